import type { CodeCell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { LabPage } from '../support/lab';
import { expect, test } from '../support/fixtures';
import { addCell } from '../support/scripts';
import { LabServer } from '../support/server';
import { openWork } from '../support/work';

test.use({ keepsTab: false });

/** Prints, waits for a file `go`, and prints again. */
const WAITS = `import os, time
print("printed early", flush=True)
while not os.path.exists("go"):
    time.sleep(0.05)
print("printed late")`;

const BOTH = /^printed early\nprinted late\n$/;

/** What the cells of the work on disk have printed. */
async function printedOnDisk(
  server: LabServer,
  tab: LabPage
): Promise<string[]> {
  const { cells } = await server.read(`${tab.folder}/work.ipynb`);
  return cells.map(cell =>
    ((cell.outputs ?? []) as { text?: string | string[] }[])
      .map(({ text }) => [text ?? ''].flat().join(''))
      .join('')
  );
}

/** The runs in the output of a tool call. */
function runsIn(output: string): Record<string, unknown>[] {
  return (JSON.parse(output) as { runs: Record<string, unknown>[] }).runs;
}

/** Close the notebook's tab as a user does, saving what JupyterLab asks about. */
async function closeTab(tab: LabPage): Promise<void> {
  const { page } = tab;
  const save = page.locator('.jp-Dialog').getByRole('button', { name: 'Save' });
  await page
    .locator(
      '.lm-DockPanel .lm-TabBar-tab.lm-mod-current .lm-TabBar-tabCloseIcon'
    )
    .click();
  const closed = expect(page.locator('.jp-NotebookPanel')).toHaveCount(0);
  await Promise.race([closed, save.click()]);
  await closed;
}

for (const isReopened of [false, true]) {
  test(`a notebook that is closed while the agent runs a cell of it ${isReopened ? 'and opened again ' : ''}loses nothing`, async ({
    tab,
    model,
    server
  }) => {
    const notebook = await openWork(tab, WAITS, 'print("and the next")');
    await model.script(
      {
        call: 'runNotebookCells',
        arguments: { cellIds: ['cell-0', 'cell-1'] }
      },
      { say: 'Both ran.' }
    );
    await tab.panel.send('Run both');
    await expect(notebook.prompt(0)).toHaveText('[*]:');
    await expect(notebook.output(0)).toHaveText('printed early');
    await closeTab(tab);
    if (isReopened) {
      await tab.open('work.ipynb');
      await notebook.ready();
    }
    await server.text(`${tab.folder}/go`, '');
    await tab.panel.ended();

    await expect(tab.panel.toolCalls).toHaveAttribute('data-status', 'ok');
    await expect(tab.panel.toolCalls).toContainText(/Ran 2 cells · [\d.]+ m?s/);
    const runs = runsIn((await model.requests())[1].lastOutput);
    expect(runs).toMatchObject([
      { status: 'ok', outputs: 'printed early\nprinted late' },
      { status: 'ok', outputs: 'and the next' }
    ]);
    expect(runs.map(run => run.note)).toEqual([undefined, undefined]);
    const printed = await printedOnDisk(server, tab);
    expect(printed[0]).toMatch(BOTH);
    expect(printed[1]).toBe('and the next\n');
    if (isReopened) {
      await expect(notebook.output(0)).toHaveText(
        'printed early\nprinted late'
      );
      await expect(notebook.prompt(0)).toHaveText('[1]:');
      await expect(notebook.output(1)).toHaveText('and the next');
      expect(await notebook.isDirty()).toBe(false);
    }
    await expect(tab.page.locator('.jp-Dialog')).toHaveCount(0);
  });
}

test('a reload in the middle of a run loses nothing that the cell prints, and Stop is there', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, WAITS);
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { say: 'It ran.' }
  );
  await tab.panel.send('Run it');
  await expect(notebook.output(0)).toHaveText('printed early');
  const began = Date.now();
  await tab.page.reload();
  await tab.shown();
  await expect(tab.panel.turns).toHaveCount(1);
  await expect(tab.panel.stopButton).toBeVisible();
  // What it printed before comes back into the notebook while it runs.
  await expect(notebook.output(0)).toHaveText('printed early');
  const atLeast = Date.now() - began;
  await server.text(`${tab.folder}/go`, '');
  await tab.panel.ended();

  const [runs] = runsIn((await model.requests())[1].lastOutput);
  expect(runs).toMatchObject({
    status: 'ok',
    outputs: 'printed early\nprinted late'
  });
  expect(runs.note).toBe(undefined);
  expect(runs.durationMs).toBeGreaterThan(atLeast);
  await expect(tab.panel.toolCalls).toContainText(/Ran cell 1 · [\d.]+ s/);
  expect((await printedOnDisk(server, tab))[0]).toMatch(BOTH);
  await expect(notebook.output(0)).toHaveText('printed early\nprinted late');
  expect(await notebook.isDirty()).toBe(false);
  await expect(tab.page.locator('.jp-Dialog')).toHaveCount(0);
});

test('Stop after a reload ends the cell that the page before it had begun', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, WAITS, 'print("free again")');
  await model.script({
    call: 'runNotebookCells',
    arguments: { cellIds: ['cell-0'] }
  });
  await tab.panel.send('Run it');
  await expect(notebook.output(0)).toHaveText('printed early');
  await tab.page.reload();
  await tab.shown();
  await tab.panel.stopButton.click();
  await tab.panel.ended(1, 'aborted');
  await notebook.kernelReady();
  await expect(notebook.cells.nth(0)).toContainText('KeyboardInterrupt');
  await notebook.run(1);
  await expect(notebook.output(1)).toHaveText('free again');
  expect((await printedOnDisk(server, tab))[0]).toContain('printed early');
});

test('a browser tab that is closed in the middle of a run: what was printed before is saved as well', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, 'print("the first")', WAITS);
  await model.script(
    {
      call: 'runNotebookCells',
      arguments: { cellIds: ['cell-0', 'cell-1'] }
    },
    { say: 'Both ran.' }
  );
  await tab.panel.send('Run both');
  await expect(notebook.output(1)).toHaveText('printed early');
  await tab.page.close();
  await server.text(`${tab.folder}/go`, '');
  // The page is expected back for a while.
  await expect
    .poll(async () => (await model.state()).requests, { timeout: 40_000 })
    .toBe(2);
  const runs = runsIn((await model.request(2)).lastOutput);
  expect(runs).toMatchObject([
    { status: 'ok', outputs: 'the first' },
    { status: 'ok', outputs: 'printed early\nprinted late' }
  ]);
  expect(await printedOnDisk(server, tab)).toEqual([
    'the first\n',
    'printed early\nprinted late\n'
  ]);
});

test("a page that is loaded while the user's cell runs waits for its end with the agent's", async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, WAITS, 'print("of the agent")');
  await model.script(
    { say: 'Hello.' },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'It ran.' }
  );
  // A conversation brings its mode and its attachments back.
  await tab.panel.ask('Hello');
  await notebook.kernelReady();
  await notebook.run(0);
  await expect(notebook.output(0)).toHaveText('printed early');
  await tab.page.reload();
  await tab.shown();
  await expect(tab.panel.root).toContainText('kernel busy');
  await expect(tab.panel.attachments).toContainText('can edit');
  await tab.panel.send('Run the second');
  // Its code is sent once the kernel can ask about what it does, which it cannot while it is busy.
  await expect(tab.panel.toolCalls).toHaveAttribute('data-status', 'running');
  await expect(notebook.prompt(1)).toHaveText('[*]:');
  const sent = await tab.page.evaluate(() => {
    const panel = window.jupyterapp.shell.currentWidget as NotebookPanel;
    return !!(panel.content.widgets[1] as CodeCell).outputArea.future;
  });
  expect(sent).toBe(false);
  await server.text(`${tab.folder}/go`, '');
  await tab.panel.ended(2);
  await expect(notebook.output(1)).toHaveText('of the agent');
  await expect(tab.panel.root).toContainText('kernel ready');
});

test('a turn of a program begins at once when the page with its notebook was closed', async ({
  tab,
  model,
  server
}) => {
  await openWork(tab, 'x = 1');
  await model.script(
    { call: 'addNotebookCell', arguments: { type: 'code', content: 'y = 2' } },
    { say: 'Added.' }
  );
  await tab.page.close();
  const { url, token } = server.about;
  const path = `${tab.folder}/work.ipynb`;
  const began = Date.now();
  const response = await fetch(`${url}datalayer-agent/chat`, {
    method: 'POST',
    headers: { Authorization: `token ${token}` },
    body: JSON.stringify({
      message: 'Add a cell',
      mode: 'agent',
      attachments: [{ kind: 'notebook', path }],
      activeNotebook: path
    })
  });
  expect(await response.json()).toMatchObject({ reply: 'Added.' });
  expect(Date.now() - began).toBeLessThan(7_000);
  const { cells } = await server.read(path);
  expect(cells.map(cell => cell.source)).toEqual(['x = 1', 'y = 2']);
});

test('the changes of a turn that goes on while its page is loaded anew are in the notebook', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'x = 0');
  const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
  const steps = numbers.map(number => ({
    call: 'addNotebookCell',
    arguments: { type: 'code', content: `x = ${number}` },
    // They come one after the other from before the reload until after it.
    chunk: 1_000,
    delayMs: 300
  }));
  await model.script({ gate: steps[0], after: 0 }, ...steps.slice(1), {
    say: 'Added all.'
  });
  await tab.panel.send('Add twelve cells');
  await model.atGate();
  const reloaded = tab.page.reload();
  await model.release();
  await reloaded;
  await tab.shown();
  await tab.panel.ended();

  const all = [0, ...numbers].map(number => `x = ${number}`);
  await expect(notebook.cells).toHaveCount(all.length);
  expect(await notebook.sources()).toEqual(all);
  expect(await notebook.isDirty()).toBe(false);
  await notebook.type(0, ' # typed');
  await tab.page.keyboard.press('Control+s');
  await expect.poll(() => notebook.isDirty()).toBe(false);
  await expect(tab.page.locator('.jp-Dialog')).toHaveCount(0);
});

test('a change that was made after the page had read the notebook, and before it was connected, is in it', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, 'x = 0');
  await model.script(
    { gate: addCell('x = 1'), after: 0 },
    { say: 'Nothing more is asked of the page.' }
  );
  await tab.panel.send('Add a cell');
  await model.atGate();
  let connect!: () => void;
  const held = new Promise<void>(resolve => (connect = resolve));
  await tab.page.routeWebSocket(/datalayer-agent\/page/, async socket => {
    await held;
    socket.connectToServer();
  });
  await tab.page.reload();
  await tab.shown();
  await expect(notebook.cells).toHaveCount(1);
  await model.release();
  const path = `${tab.folder}/work.ipynb`;
  await expect.poll(async () => (await server.read(path)).cells.length).toBe(2);
  // JupyterLab writes what the kernel says of itself into the notebook, which then counts as changed.
  await notebook.kernelReady();
  connect();
  await tab.panel.ended();

  await expect(notebook.cells).toHaveCount(2);
  expect(await notebook.sources()).toEqual(['x = 0', 'x = 1']);
  expect(await notebook.isDirty()).toBe(false);
  await notebook.type(0, ' # typed');
  await tab.page.keyboard.press('Control+s');
  await expect.poll(() => notebook.isDirty()).toBe(false);
  await expect(tab.page.locator('.jp-Dialog')).toHaveCount(0);
});
