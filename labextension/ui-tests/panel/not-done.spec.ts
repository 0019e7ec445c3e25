import { expect, test } from '../support/fixtures';
import { add } from '../support/plans';
import { openWork } from '../support/work';

test('an answer is shown under a line that says what was not done, also after a reload', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const { panel, page } = tab;
  const noType = {
    call: 'addNotebookCell',
    arguments: { type: 'chart', content: 'plot()' }
  };
  await model.script(noType, noType, {
    say: 'The chart is in the new cell below.'
  });
  await panel.mode('agent');
  await panel.send('Draw a chart');
  await panel.ended();
  const line = panel.root.locator(
    '[data-testid="da-notice"][data-code="not_done"]'
  );
  const below = line.locator('xpath=following-sibling::*[1]');
  await expect(line).toContainText('Nothing was changed in this turn.');
  await expect(below).toContainText('The chart is in the new cell below.');
  await page.reload();
  await tab.shown();
  await notebook.ready();
  await expect(line).toContainText('Nothing was changed in this turn.');
  await expect(below).toContainText('The chart is in the new cell below.');

  // What is fixed in the turn needs no line.
  await model.script(noType, add("'chart'"), { say: 'The chart is below.' });
  await panel.send('Try again');
  await panel.ended(2);
  expect(await notebook.sources()).toEqual(['a = 1', "'chart'"]);
  await expect(line).toHaveCount(1);
});
