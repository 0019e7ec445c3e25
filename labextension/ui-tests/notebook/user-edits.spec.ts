import { expect, test } from '../support/fixtures';
import { addCell } from '../support/scripts';
import { openWork } from '../support/work';

test('unsaved typing in another cell survives an edit', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2');
  await model.script(
    { call: 'getNotebookCells' },
    {
      gate: {
        call: 'updateNotebookCell',
        arguments: { cellId: 'cell-1', content: 'b = 20', run: true }
      },
      after: 0
    },
    { say: 'Done.' }
  );
  await tab.panel.send('Make b twenty');
  await model.atGate();
  await notebook.type(0, '  # mine');
  await model.release();
  await tab.panel.ended();
  expect(await notebook.sources()).toEqual(['a = 1  # mine', 'b = 20']);
  const onDisk = await server.read(`${tab.folder}/work.ipynb`);
  expect(onDisk.cells.map(cell => cell.source)).toEqual([
    'a = 1  # mine',
    'b = 20'
  ]);
});

test('typing in the same cell while the agent thinks is not overwritten, and the model is notified', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1');
  await model.script(
    { call: 'getNotebookCells' },
    {
      gate: {
        call: 'updateNotebookCell',
        arguments: { cellId: 'cell-0', content: 'a = 10' }
      },
      after: 0
    },
    { say: 'You changed it meanwhile.' }
  );
  await tab.panel.send('Make a ten');
  await model.atGate();
  await notebook.type(0, '  # mine');
  await model.release();
  await tab.panel.ended();
  expect(await notebook.sources()).toEqual(['a = 1  # mine']);
  const output = (await model.requests())[2].lastOutput;
  expect(output).toContain('stale');
  expect(output).toContain('a = 1  # mine');
  await expect(tab.panel.toolCalls.last()).toHaveAttribute(
    'data-status',
    'error'
  );
});

test('peers 5: one undo of the notebook takes back the batch, and nothing of the user', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2', 'c = 3');
  await model.script(
    { call: 'getNotebookCells' },
    {
      call: 'deleteNotebookCells',
      arguments: { cellIds: ['cell-1', 'cell-2'] }
    },
    { say: 'Removed.' }
  );
  await notebook.type(0, '  # mine');
  await tab.panel.send('Remove the others');
  await tab.panel.root.getByTestId('da-approve').click();
  await tab.panel.ended();
  expect(await notebook.sources()).toEqual(['a = 1  # mine']);
  await notebook.type(0, ', later');
  await notebook.undo();
  expect(await notebook.sources()).toEqual([
    'a = 1  # mine, later',
    'b = 2',
    'c = 3'
  ]);
});

test('peers 5: the undo of a cell takes back typing, never the edits of the agent', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2');
  await model.script(addCell('d = 4'), { say: 'Added.' });
  await notebook.type(0, '  # mine');
  await tab.panel.ask('Add a cell');
  await notebook.edit(0);
  await tab.page.keyboard.press('Control+z');
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 2', 'd = 4']);
});

test('a run leaves edit mode and the cursor where they were', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'first = 1\nsecond = 2', '6 * 7');
  await model.script(
    {
      gate: { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
      after: 0
    },
    { gate: addCell('8 * 9', { position: 'start', run: true }), after: 0 },
    { say: 'Ran.' }
  );
  await tab.panel.send('Run it');
  await model.atGate();
  await notebook.edit(0);
  await tab.page.keyboard.press('Control+Home');
  await tab.page.keyboard.press('End');
  const before = await notebook.view();
  expect(before).toMatchObject({
    mode: 'edit',
    activeCellId: 'cell-0',
    cursor: { line: 0, column: 9 },
    hasFocus: true
  });
  await model.release();
  await expect(notebook.output(1)).toHaveText('42');
  expect(await notebook.view()).toEqual(before);
  await model.release();
  await tab.panel.ended();
  await expect(notebook.output(0)).toHaveText('72');
  expect(await notebook.view()).toEqual(before);
  // The next keys are the user's, in their cell.
  await tab.page.keyboard.type('0');
  expect((await notebook.sources())[1]).toBe('first = 10\nsecond = 2');
});

test("the user's running cell is never interrupted: the agent's run waits, and Stop ends only that", async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(
    tab,
    'import os, time\nwhile not os.path.exists("go"):\n    time.sleep(0.05)\nprint("reached the end")',
    'print("of the agent")'
  );
  await model.script({
    call: 'runNotebookCells',
    arguments: { cellIds: ['cell-1'] }
  });
  await notebook.kernelReady();
  await notebook.run(0);
  await expect(notebook.prompt(0)).toHaveText('[*]:');
  await tab.panel.send('Run the second cell');
  // Its code is sent once the kernel can ask about what it does, which it cannot while it is busy.
  await expect(tab.panel.toolCalls).toHaveAttribute('data-status', 'running');
  await expect(notebook.prompt(1)).toHaveText('[*]:');
  await tab.panel.stopButton.click();
  await tab.panel.ended(1, 'aborted');
  await expect(notebook.prompt(0)).toHaveText('[*]:');
  await server.text(`${tab.folder}/go`, '');
  await expect(notebook.output(0)).toHaveText('reached the end');
  await expect(notebook.prompt(0)).toHaveText('[1]:');
  await expect(notebook.prompt(1)).toHaveText('[ ]:');
  await expect(
    notebook.cells.nth(1).locator('.jp-OutputArea-output')
  ).toHaveCount(0);
});

test("a cell that the agent runs asks for input on the page, as the user's own would", async ({
  tab,
  model
}) => {
  const notebook = await openWork(
    tab,
    'name = input("Who? ")\nprint("It is", name)'
  );
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { say: 'Asked.' }
  );
  await tab.panel.send('Run it');
  const field = notebook.cells.first().locator('.jp-Stdin-input');
  await field.fill('Ada');
  await field.press('Enter');
  await tab.panel.ended();
  await expect(notebook.cells.first()).toContainText('It is Ada');
  expect((await model.requests())[1].lastOutput).toContain('It is Ada');
});
