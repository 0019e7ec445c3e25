import { Page } from '@playwright/test';

import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { LabPage } from '../support/lab';
import { shoot } from '../support/screenshots';

const add = (content: string) => ({
  call: 'addNotebookCell',
  arguments: { type: 'code', content }
});

/** A tagged block for a cell. */
const proposal = (cellId: string, source: string) =>
  `Here it is.\n\n\`\`\`python cell=${cellId}\n${source}\n\`\`\`\n`;

/** Rename a document as a user does, by its entry in the file browser. */
async function renameInBrowser(
  page: Page,
  from: string,
  to: string
): Promise<void> {
  const entry = page.locator('.jp-DirListing-item', { hasText: from }).first();
  await entry.click();
  await page.keyboard.press('F2');
  const editor = page.locator('input.jp-DirListing-editor');
  await editor.fill(to);
  await editor.press('Enter');
  await expect(page.getByRole('tab', { name: to })).toBeVisible();
}

/** Undo the first turn of the newest session. */
async function undoFirst(tab: LabPage): Promise<void> {
  const { sessions } = await tab.server.api<{ sessions: { id: string }[] }>(
    'datalayer-agent/sessions?limit=1'
  );
  const [{ id }] = sessions;
  const { turns } = await tab.server.api<{ turns: { id: string }[] }>(
    `datalayer-agent/sessions/${id}/turns`
  );
  await tab.server.decide(`sessions/${id}/ops`, 'POST', {
    type: 'undo',
    turnId: turns[0].id
  });
}

/** The open documents, in the order of their tabs, by their paths in the test's folder. */
function openPaths({ page, folder }: LabPage): Promise<string[]> {
  return page.evaluate(
    folder =>
      [...window.jupyterapp.shell.widgets('main')].flatMap(widget => {
        const { context } = widget as unknown as { context?: { path: string } };
        return context?.path.replace(`${folder}/`, '') ?? [];
      }),
    folder
  );
}

/** Rename over the contents API, as a program or another browser does. */
async function rename(tab: LabPage, from: string, to: string): Promise<void> {
  const path = [tab.folder, ...from.split('/')].map(encodeURIComponent);
  await tab.server.api(`api/contents/${path.join('/')}`, 'PATCH', {
    path: `${tab.folder}/${to}`
  });
}

/** Save the active document by its key. */
async function save({ page }: LabPage): Promise<void> {
  await page.keyboard.press('Control+s');
}

/** The sources of a notebook's file in the test's folder. */
async function saved({ server, folder }: LabPage, name: string) {
  const { cells } = await server.read(`${folder}/${name}`);
  return cells.map(({ source }) => source);
}

/** The names in the test's folder. */
async function names(tab: LabPage, folder = tab.folder): Promise<string[]> {
  const { content } = await tab.server.api<{ content: { name: string }[] }>(
    `api/contents/${folder}`
  );
  return content.map(({ name }) => name).sort();
}

/** The page's connection to the agent, which can be severed until it is restored. */
async function severable(
  page: Page
): Promise<{ sever(): Promise<unknown>; restore(): void }> {
  let isSevered = false;
  const sockets = new Set<{ close(): Promise<void> }>();
  await page.routeWebSocket(/datalayer-agent\/page/, async socket => {
    if (isSevered) {
      await socket.close();
      return;
    }
    sockets.add(socket);
    socket.connectToServer();
  });
  return {
    sever: () => {
      isSevered = true;
      return Promise.all([...sockets].map(socket => socket.close()));
    },
    restore: () => {
      isSevered = false;
    }
  };
}

test('a notebook that is renamed between and in turns keeps its chip, marks, bar and undo', async ({
  tab,
  model,
  server
}) => {
  const { page, panel, folder } = tab;
  await server.notebook(`${folder}/Untitled.ipynb`, [
    { source: 'a = 1', id: 'own' }
  ]);
  await tab.load('Untitled.ipynb');
  await tab.notebook('Untitled.ipynb').ready();
  await panel.attach('Untitled.ipynb');
  await panel.mode('agent');
  await model.script(
    add('one = 1'),
    { say: 'One.' },
    add('two = 2'),
    { say: 'Two.' },
    add('three = 3'),
    { gate: { say: 'Three.' }, after: 0 }
  );
  const bar = page.getByTestId('da-nb-changes');
  const marks = page.getByTestId('da-mark');
  await panel.ask('One');
  await expect(bar).toContainText('1 cell changed');

  await renameInBrowser(page, 'Untitled.ipynb', 'sales.ipynb');
  await expect(panel.attachments.first()).toContainText('sales.ipynb');
  await expect(bar).toContainText('1 cell changed');
  await expect(marks).toHaveCount(1);
  await shoot(tab, 'renamed', 'window');

  await panel.ask('Two', 2);
  await expect(marks).toHaveCount(2);
  await panel.send('Three');
  await model.atGate();
  await renameInBrowser(page, 'sales.ipynb', 'final.ipynb');
  await model.release();
  await panel.ended(3);
  await expect(bar).toContainText('1 cell changed · 2 earlier');
  await expect(marks).toHaveCount(3);
  await expect(panel.attachments.first()).toContainText('final.ipynb');

  const notebook = tab.notebook('final.ipynb');
  await undoFirst(tab);
  await expect(marks).toHaveCount(2);
  expect(await notebook.sources()).toEqual(['a = 1', 'two = 2', 'three = 3']);
  await expect
    .poll(async () =>
      (await server.read(`${folder}/final.ipynb`)).cells.map(
        cell => cell.source
      )
    )
    .toEqual(['a = 1', 'two = 2', 'three = 3']);
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb', 'final.ipynb']);

  // What the server stored of it says the same.
  await tab.loadAgain();
  await expect(marks).toHaveCount(2);
  await expect(panel.attachments.first()).toContainText('final.ipynb');
});

test('another page follows a rename, and its save writes the renamed file', async ({
  tab,
  model,
  server,
  sharedContext
}) => {
  const { folder } = tab;
  await server.notebook(`${folder}/old.ipynb`, [
    { source: 'a = 1', id: 'own' }
  ]);
  await tab.load('old.ipynb');
  await tab.notebook('old.ipynb').ready();
  const other = new LabPage(await sharedContext.newPage(), server, folder);
  await other.load('old.ipynb');
  await other.notebook('old.ipynb').ready();

  await renameInBrowser(tab.page, 'old.ipynb', 'new.ipynb');
  await expect(
    other.page.getByRole('tab', { name: 'new.ipynb' })
  ).toBeVisible();
  const there = other.notebook('new.ipynb');
  await there.type(0, '0');
  await other.page.keyboard.press('Control+s');
  await expect.poll(() => there.isDirty()).toBe(false);
  expect((await server.read(`${folder}/new.ipynb`)).cells[0].source).toBe(
    'a = 10'
  );
  // The server knows by which name the page shows it.
  await other.panel.attach('new.ipynb');
  await other.panel.mode('agent');
  await model.script(add('b = 2'), { say: 'Done.' });
  await other.panel.ask('Add one');
  expect(await there.sources()).toEqual(['a = 10', 'b = 2']);
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb', 'new.ipynb']);
  expect(
    (await server.read(`${folder}/new.ipynb`)).cells.map(cell => cell.source)
  ).toContain('b = 2');
  await other.page.close();
});

test('a new notebook is renamed at its first save, and the next turn is about it', async ({
  tab,
  model,
  server
}) => {
  const { page, panel, folder } = tab;
  await tab.load('cars.ipynb');
  // Jupyter Server answers that there is no such folder while it lists one of which a file is renamed.
  await tab.closeDialogs('Directory not found');
  await page.evaluate(async cwd => {
    await window.jupyterapp.commands.execute('notebook:create-new', {
      cwd,
      kernelName: 'python3'
    });
  }, folder);
  await tab.notebook('Untitled.ipynb').ready();
  await panel.attach('Untitled.ipynb');
  await panel.mode('agent');
  await model.script(add('one = 1'), { say: 'One.' }, add('two = 2'), {
    say: 'Two.'
  });
  await panel.ask('One');
  await tab.notebook('Untitled.ipynb').edit(0);
  await page.keyboard.press('Control+s');
  const dialog = page.locator('.jp-Dialog');
  await dialog.locator('input').first().fill('first.ipynb');
  await dialog.getByRole('button', { name: 'Rename and Save' }).click();
  await expect(panel.attachments.first()).toContainText('first.ipynb');
  await expect(page.getByTestId('da-mark')).not.toHaveCount(0);
  await panel.ask('Two', 2);
  const { cells } = await server.read(`${folder}/first.ipynb`);
  expect(cells.map(cell => cell.source)).toEqual(
    expect.arrayContaining(['one = 1', 'two = 2'])
  );
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb', 'first.ipynb']);
});

test('open documents follow when their folder is renamed by a program, whatever its name', async ({
  tab,
  model,
  server
}) => {
  const { page, panel, folder } = tab;
  const old = `${folder}/data (1)`;
  await server.api(`api/contents/${old}`, 'PUT', { type: 'directory' });
  await server.notebook(`${old}/a.ipynb`, [{ source: 'a = 1', id: 'own' }]);
  await server.text(`${old}/notes.txt`, 'one\n');
  await tab.load('cars.ipynb');
  await tab.open('data (1)/notes.txt');
  await tab.open('data (1)/a.ipynb');
  await tab.notebook('data (1)/a.ipynb').ready();
  await panel.attach('a.ipynb');
  await panel.mode('agent');
  await server.api(`api/contents/${old}`, 'PATCH', {
    path: `${folder}/data+2`
  });
  const paths = () =>
    page.evaluate(() =>
      [...window.jupyterapp.shell.widgets('main')].flatMap(
        widget =>
          (widget as unknown as { context?: { path: string } }).context?.path ??
          []
      )
    );
  await expect
    .poll(paths)
    .toEqual([
      `${folder}/cars.ipynb`,
      `${folder}/data+2/notes.txt`,
      `${folder}/data+2/a.ipynb`
    ]);
  await model.script(
    add('b = 2'),
    {
      call: 'readFile',
      arguments: { path: `${folder}/data+2/notes.txt` }
    },
    {
      call: 'editFile',
      arguments: {
        path: `${old}/notes.txt`,
        edits: [{ oldString: 'one', newString: 'two' }]
      }
    },
    { say: 'Done.' }
  );
  await panel.ask('Change both');
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb', 'data+2']);
  const { cells } = await server.read(`${folder}/data+2/a.ipynb`);
  expect(cells.map(cell => cell.source)).toContain('b = 2');
  const { content } = await server.api<{ content: string }>(
    `api/contents/${folder}/data+2/notes.txt`
  );
  expect(content).toBe('two\n');
});

test('a notebook whose file was deleted is not made again by an edit', async ({
  tab,
  model,
  server
}) => {
  const { panel, folder } = tab;
  await server.notebook(`${folder}/gone.ipynb`, [{ source: 'a = 1' }]);
  await tab.load('gone.ipynb');
  await tab.notebook('gone.ipynb').ready();
  await panel.attach('gone.ipynb');
  await panel.mode('agent');
  await model.script({ gate: add('b = 2'), after: 0 }, { say: 'It is gone.' });
  await panel.send('Add one');
  await model.atGate();
  await server.api(`api/contents/${folder}/gone.ipynb`, 'DELETE');
  await model.release();
  await panel.ended();
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb']);
  expect(await tab.notebook('gone.ipynb').sources()).toEqual(['a = 1']);
});

test('a page that was away for longer than the server remembers it follows all that was renamed', async ({
  tab,
  server,
  sharedContext
}) => {
  const { page, folder } = tab;
  tab.canBeKept = false;
  const connection = await severable(page);
  await server.api(`api/contents/${folder}/f`, 'PUT', { type: 'directory' });
  const opened = ['a', 'b', 'f/c', 'e'].map(name => `${name}.ipynb`);
  for (const name of opened) {
    const source = `name = '${name}'`;
    await server.notebook(`${folder}/${name}`, [{ source, id: 'own' }]);
  }
  await tab.load('cars.ipynb');
  for (const name of opened) {
    await tab.open(name);
    // JupyterLab asks what to do about a kernel that it cannot reach while it starts.
    await tab.notebook(name).kernelReady();
  }
  await tab.closeDialogs();

  await sharedContext.setOffline(true);
  await connection.sever();
  // The server forgets a page after 15 seconds.
  await page.waitForTimeout(17_000);
  await rename(tab, 'a.ipynb', 't.ipynb');
  await rename(tab, 'b.ipynb', 'a.ipynb');
  await rename(tab, 't.ipynb', 'b.ipynb');
  await rename(tab, 'f', 'g 100%');
  await rename(tab, 'g 100%/c.ipynb', 'ö d.ipynb');
  await rename(tab, 'e.ipynb', 'E.ipynb');
  await server.notebook(`${folder}/e.ipynb`, [{ source: 'new = 1' }]);
  expect(await openPaths(tab)).toEqual(['cars.ipynb', ...opened]);
  connection.restore();
  await sharedContext.setOffline(false);

  await expect
    .poll(() => openPaths(tab), { timeout: 30_000 })
    .toEqual(['cars.ipynb', 'b.ipynb', 'a.ipynb', 'ö d.ipynb', 'E.ipynb']);
  const followed = { b: 'a', a: 'b', 'ö d': 'f/c', E: 'e' };
  for (const [now, before] of Object.entries(followed)) {
    await tab.open(`${now}.ipynb`);
    const notebook = tab.notebook(`${now}.ipynb`);
    await notebook.type(0, ' # typed');
    await save(tab);
    await expect.poll(() => notebook.isDirty()).toBe(false);
    expect(await saved(tab, `${now}.ipynb`)).toEqual([
      `name = '${before}.ipynb' # typed`
    ]);
  }
  expect(await saved(tab, 'e.ipynb')).toEqual(['new = 1']);
  expect(await names(tab)).toEqual([
    'E.ipynb',
    'a.ipynb',
    'b.ipynb',
    'cars.csv',
    'cars.ipynb',
    'e.ipynb',
    'g 100%',
    'ö d.ipynb'
  ]);
});

test('a save before the page knows of a rename does not bring the old file back, and loses nothing', async ({
  tab,
  server
}) => {
  const { page, folder } = tab;
  tab.canBeKept = false;
  const connection = await severable(page);
  await server.notebook(`${folder}/old.ipynb`, [
    { source: 'a = 1', id: 'own' }
  ]);
  await tab.load('old.ipynb');
  await tab.notebook('old.ipynb').ready();
  const dialog = page.locator('.jp-Dialog');

  // On its way while another browser renames.
  let release!: () => void;
  const held = new Promise<void>(resolve => (release = resolve));
  let begun!: () => void;
  const began = new Promise<void>(resolve => (begun = resolve));
  await page.route(/api\/contents\/.*old\.ipynb/, async route => {
    if (route.request().method() === 'PUT') {
      begun();
      await held;
    }
    await route.continue();
  });
  await tab.notebook('old.ipynb').type(0, '0');
  await save(tab);
  await began;
  await rename(tab, 'old.ipynb', 'new.ipynb');
  await expect.poll(() => openPaths(tab)).toEqual(['new.ipynb']);
  release();
  await expect(dialog).toContainText('was renamed to');
  await dialog.getByRole('button').first().click();
  const notebook = tab.notebook('new.ipynb');
  expect(await notebook.isDirty()).toBe(true);
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb', 'new.ipynb']);
  await notebook.edit(0);
  await save(tab);
  await expect.poll(() => notebook.isDirty()).toBe(false);
  expect(await saved(tab, 'new.ipynb')).toEqual(['a = 10']);

  // The server answers again, and the page is not connected yet.
  await connection.sever();
  await rename(tab, 'new.ipynb', 'newest.ipynb');
  await notebook.type(0, '0');
  await save(tab);
  await expect(dialog).toContainText('was renamed to');
  await dialog.getByRole('button').first().click();
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb', 'newest.ipynb']);
  connection.restore();
  await expect
    .poll(() => openPaths(tab), { timeout: 30_000 })
    .toEqual(['newest.ipynb']);
  await tab.notebook('newest.ipynb').edit(0);
  await save(tab);
  await expect.poll(() => saved(tab, 'newest.ipynb')).toEqual(['a = 100']);
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb', 'newest.ipynb']);
});

test('what is open in a page goes on when another page renames: inline chat, marks, bar, stale cells, chips', async ({
  tab,
  model,
  server,
  sharedContext
}) => {
  const { page, panel, folder } = tab;
  tab.canBeKept = false;
  await server.notebook(`${folder}/old.ipynb`, [
    { source: 'a = 1', id: 'first' },
    { source: 'b = a + 1\nb', id: 'second' },
    { source: 'c = 3', id: 'third' }
  ]);
  await tab.load('old.ipynb');
  const before = tab.notebook('old.ipynb');
  await before.kernelReady();
  for (const index of [0, 1]) {
    await before.run(index);
    await before.ran(index);
  }
  const update = (cellId: string, content: string) => ({
    call: 'updateNotebookCell',
    arguments: { cellId, content }
  });
  await panel.attach('old.ipynb');
  await panel.mode('agent');
  await model.script({ call: 'getNotebookCells' }, update('first', 'a = 10'), {
    say: 'Changed.'
  });
  await panel.ask('Make a ten');
  const stale = panel.root.getByTestId('da-stale');
  const marks = page.getByTestId('da-mark');
  const bar = page.getByTestId('da-nb-changes');
  await expect(stale).toContainText('2 cells have outdated output');
  await expect(marks).toHaveCount(1);
  await expect(bar).toContainText('1 cell changed');
  const chat = new InlineChat(tab);
  await before.edit(2);
  await chat.open();
  await model.script({
    gate: { say: proposal('third', 'c = 30'), chunk: 6 },
    after: 8
  });
  await chat.ask('Ten times');
  await model.atGate();

  const other = new LabPage(await sharedContext.newPage(), server, folder);
  await other.load('old.ipynb');
  await other.notebook('old.ipynb').ready();
  await renameInBrowser(other.page, 'old.ipynb', 'new.ipynb');
  await page.bringToFront();
  await expect(page.getByRole('tab', { name: 'new.ipynb' })).toBeVisible();
  await model.release();

  // The answer that was being given arrives, and is taken.
  await expect(chat.addedLines).toHaveText(['c = 30']);
  await expect(panel.attachments.first()).toContainText('new.ipynb');
  await expect(bar).toContainText('1 cell changed');
  await expect(marks).toHaveCount(1);
  await expect(stale).toContainText('2 cells have outdated output');
  await expect(chat.accept).toBeVisible();
  await chat.accept.click();
  const notebook = tab.notebook('new.ipynb');
  await expect
    .poll(() => notebook.sources())
    .toEqual(['a = 10', 'b = a + 1\nb', 'c = 30']);
  await stale.getByRole('button', { name: 'Run them' }).click();
  await expect(notebook.output(1)).toHaveText('11');
  await expect(stale).toHaveCount(0);
  // The conversation goes on, in the same session.
  await model.script({ say: proposal('third', 'c = 300') });
  await notebook.edit(2);
  await chat.open();
  await chat.ask('And again');
  await expect(chat.addedLines).toHaveText(['c = 300']);
  await shoot(tab, 'renamed-elsewhere', 'window');

  // A reload shows it all again, by the new name.
  await tab.loadAgain();
  await expect(chat.root).toBeVisible();
  await expect(chat.addedLines).toHaveText(['c = 300']);
  await expect(panel.attachments.first()).toContainText('new.ipynb');
  await expect(marks).toHaveCount(1);
  await chat.reject.click();

  await bar.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect.poll(async () => (await notebook.sources())[0]).toBe('a = 1');
  await expect(marks).toHaveCount(0);
  expect(await names(tab)).toEqual(['cars.csv', 'cars.ipynb', 'new.ipynb']);
  await other.page.close();
});
