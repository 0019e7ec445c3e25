import { Page } from '@playwright/test';

import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { shoot } from '../support/screenshots';

const add = (content: string) => ({
  call: 'addNotebookCell',
  arguments: { type: 'code', content }
});

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
  await tab.server.api(`datalayer-agent/sessions/${id}/ops`, 'POST', {
    type: 'undo',
    turnId: turns[0].id
  });
}

/** The names in the test's folder. */
async function names(tab: LabPage, folder = tab.folder): Promise<string[]> {
  const { content } = await tab.server.api<{ content: { name: string }[] }>(
    `api/contents/${folder}`
  );
  return content.map(({ name }) => name).sort();
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
