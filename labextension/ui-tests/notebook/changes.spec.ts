import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { ScriptedModel } from '../support/model';
import { NotebookPage } from '../support/notebook';
import { openWork } from '../support/work';

const update = (cellId: string, content: string) => ({
  call: 'updateNotebookCell',
  arguments: { cellId, content }
});

/** Three cells, of which a turn changes the first two. */
async function changedTwo(
  tab: LabPage,
  model: ScriptedModel
): Promise<NotebookPage> {
  const notebook = await openWork(tab, 'a = 1', 'b = 2', 'c = 3');
  await model.script(
    { call: 'getNotebookCells' },
    { calls: [update('cell-0', 'a = 10'), update('cell-1', 'b = 20')] },
    { say: 'Changed.' }
  );
  await tab.panel.ask('Change two');
  expect(await notebook.sources()).toEqual(['a = 10', 'b = 20', 'c = 3']);
  return notebook;
}

test('peers 5: Undo takes a turn back and keeps unsaved typing in another cell', async ({
  tab,
  model
}) => {
  const notebook = await changedTwo(tab, model);
  const { changes, root } = tab.panel;
  await expect(changes).toContainText('2 cells changed');
  await notebook.type(2, '  # mine');
  await root.getByTestId('da-undo').click();
  await expect(changes).toHaveCount(0);
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 2', 'c = 3  # mine']);
  await expect(
    tab.panel.root.getByText('Undone: restored 2 cells')
  ).toHaveCount(1);
  // It is so after a reload, too.
  await tab.loadAgain();
  await expect(tab.panel.turns.last()).toContainText(
    'Undone: restored 2 cells'
  );
  await expect(changes).toHaveCount(0);
});

test('Keep settles the changes, one cell or all of them, also after a reload', async ({
  tab,
  model
}) => {
  const notebook = await changedTwo(tab, model);
  const { changes, root } = tab.panel;
  await changes.getByRole('button', { name: 'View' }).click();
  await changes.getByRole('button', { name: 'Undo cell 1' }).click();
  await expect(changes).toContainText('1 cell changed');
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 20', 'c = 3']);
  await tab.loadAgain();
  await notebook.ready();
  await expect(changes).toContainText('1 cell changed');
  await root.getByTestId('da-keep').click();
  await expect(changes).toHaveCount(0);
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 20', 'c = 3']);
});

test('a cell that both changed is shown with both versions, and each answer works', async ({
  tab,
  model
}) => {
  const notebook = await changedTwo(tab, model);
  const { root } = tab.panel;
  await notebook.type(0, '  # mine');
  await notebook.type(1, '  # mine too');
  await root.getByTestId('da-undo').click();
  const conflicts = root.getByTestId('da-conflict');
  await expect(conflicts).toHaveCount(2);
  await expect(conflicts.first()).toContainText('Cell 1 was edited');
  await expect(conflicts.first()).toContainText('- a = 10  # mine');
  await expect(conflicts.first()).toContainText('+ a = 1');
  expect(await notebook.sources()).toEqual([
    'a = 10  # mine',
    'b = 20  # mine too',
    'c = 3'
  ]);
  // They are there after a reload; JupyterLab itself keeps only what is saved.
  await tab.page.evaluate(async () => {
    await window.jupyterapp.commands.execute('docmanager:save');
  });
  await tab.loadAgain();
  await notebook.ready();
  await expect(tab.page.getByTestId('da-nb-changes')).toContainText(
    '2 cells changed since'
  );
  await conflicts
    .filter({ hasText: 'Cell 1' })
    .getByRole('button', { name: 'Keep the current version' })
    .click();
  await expect(conflicts).toHaveCount(1);
  await conflicts
    .getByRole('button', { name: 'Restore the earlier text' })
    .click();
  await expect(conflicts).toHaveCount(0);
  expect(await notebook.sources()).toEqual([
    'a = 10  # mine',
    'b = 2',
    'c = 3'
  ]);
  await expect(tab.panel.changes).toHaveCount(0);
});

test('an older turn is taken back from its foot, and the newest by the palette', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2');
  await model.script(
    { call: 'getNotebookCells' },
    update('cell-0', 'a = 10'),
    { say: 'One.' },
    update('cell-1', 'b = 20'),
    { say: 'Two.' }
  );
  await tab.panel.ask('Change one');
  await tab.panel.ask('Change the other', 2);
  const first = tab.panel.turns.first();
  await first.getByRole('button', { name: 'Undo changes' }).click();
  await expect(first).toContainText('Undone: restored 1 cell');
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 20']);
  await tab.page.evaluate(async () => {
    await window.jupyterapp.commands.execute('datalayer-agent:undo-turn');
  });
  await expect(tab.panel.changes).toHaveCount(0);
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 2']);
});

test('cells whose outputs are older than their code are shown, and run with what follows from them', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = a + 1\nb', 'c = 3\nc');
  await notebook.kernelReady();
  for (const index of [0, 1, 2]) {
    await notebook.run(index);
  }
  await expect(notebook.output(1)).toHaveText('2');
  await expect(notebook.output(2)).toHaveText('3');
  await model.script({ call: 'getNotebookCells' }, update('cell-0', 'a = 10'), {
    say: 'Changed.'
  });
  await tab.panel.ask('Make a ten');
  const stale = tab.panel.root.getByTestId('da-stale');
  await expect(stale).toContainText('2 cells have outdated output');
  await stale.getByRole('button', { name: 'Run them' }).click();
  await expect(notebook.output(1)).toHaveText('11');
  await expect(notebook.prompt(2)).toHaveText('[3]:');
  await expect(stale).toHaveCount(0);
});
