import { Page } from '@playwright/test';

import { expect, test } from './support/fixtures';
import { shootBoth } from './support/screenshots';
import { openWork } from './support/work';

const update = (cellId: string, content: string) => ({
  call: 'updateNotebookCell',
  arguments: { cellId, content }
});

const add = (content: string, after: string) => ({
  call: 'addNotebookCell',
  arguments: { type: 'code', content, position: { after } }
});

/** What the page shows of changes in the notebook in front. */
function shownIn(page: Page) {
  const bar = page.getByTestId('da-nb-changes');
  return {
    bar,
    keep: bar.getByTestId('da-nb-keep'),
    undo: bar.getByTestId('da-nb-undo'),
    marks: page.getByTestId('da-mark'),
    removed: page.getByTestId('da-removed-cell')
  };
}

test('changed cells are marked until they are kept or undone, here or in the panel, and arrows lead to them', async ({
  tab,
  model
}) => {
  const { page, panel } = tab;
  const notebook = await openWork(tab, 'a = 1', 'b = 2', 'c = 3', 'd = 4');
  const { bar, keep, undo, marks } = shownIn(page);
  await expect(bar).toHaveCount(0);
  await model.script(
    { call: 'getNotebookCells' },
    {
      calls: [update('cell-0', 'a = 10'), add('new = 0', 'cell-1')]
    },
    { say: 'One.' },
    update('cell-3', 'd = 40'),
    { say: 'Two.' }
  );
  await panel.ask('Change two');
  await expect(bar).toContainText('2 cells changed');
  await expect(marks).toHaveCount(2);
  await panel.ask('Change another', 2);
  await expect(bar).toContainText('1 cell changed · 2 earlier');
  await expect(marks).toHaveCount(3);
  for (const [index, name] of [
    [0, 'Changed by the agent'],
    [2, 'Added by the agent'],
    [4, 'Changed by the agent']
  ] as const) {
    await expect(
      notebook.cells.nth(index).getByRole('img', { name })
    ).toBeVisible();
  }
  await shootBoth(tab, 'marks', 'window');

  // From one to the next and round, by the bar and by keys, with the keyboard where it was.
  const next = bar.getByRole('button', { name: 'Next changed cell' });
  const active = async () => (await notebook.view()).activeCellId;
  await next.focus();
  await page.keyboard.press('Enter');
  const added = (await notebook.content())[2].id;
  await expect.poll(active).toBe(added);
  await page.keyboard.press('Enter');
  await expect.poll(active).toBe('cell-3');
  await expect(next).toBeFocused();
  await notebook.edit(4);
  await page.keyboard.press('Alt+F5');
  await expect.poll(active).toBe('cell-0');
  await page.keyboard.press('Alt+Shift+F5');
  await expect.poll(active).toBe('cell-3');

  // Kept in the notebook, it is kept in the panel.
  await keep.focus();
  await page.keyboard.press('Enter');
  await expect(bar).toContainText('2 cells changed');
  await expect(panel.changes).toContainText('2 cells changed');
  await expect(marks).toHaveCount(2);
  expect((await notebook.view()).hasFocus).toBe(true);
  // Decided on in the panel, a cell is not marked any more.
  await panel.changes.getByRole('button', { name: 'View' }).click();
  await panel.changes.getByRole('button', { name: 'Keep cell 1' }).click();
  await expect(bar).toContainText('1 cell changed');
  await expect(marks).toHaveCount(1);
  await undo.click();
  await expect(bar).toHaveCount(0);
  await expect(marks).toHaveCount(0);
  await expect(panel.changes).toHaveCount(0);
  expect(await notebook.sources()).toEqual([
    'a = 10',
    'b = 2',
    'c = 3',
    'd = 40'
  ]);
});
