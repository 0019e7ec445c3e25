import { expect, test } from '../support/fixtures';
import { add } from '../support/plans';
import { shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

test('an answer is shown under a line that says what was not done, also after a reload', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const { panel } = tab;
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
  await tab.loadAgain();
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

test('a turn in Agent mode ends with what its results say, also after a reload', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const { panel } = tab;
  const facts = panel.root.getByTestId('da-facts');
  await model.script({ say: 'The chart is in the new cell below.' });
  await panel.mode('agent');
  await panel.send('Draw a chart');
  await panel.ended();
  await expect(facts).toHaveText(['Nothing was changed or run in this turn.']);
  await model.script(add("'chart'"), { say: 'The chart is below.' });
  await panel.send('Try again');
  await panel.ended(2);
  const both = [
    'Nothing was changed or run in this turn.',
    /^1 change( · 1 run)?$/
  ];
  await expect(facts).toHaveText(both);
  await shootBoth(tab, 'facts');
  await tab.loadAgain();
  await notebook.ready();
  await expect(facts).toHaveText(both);
});

test('a call that the model wrote as text is carried out where it is the whole answer, else shown with the reason why not', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const { panel } = tab;
  const call = JSON.stringify(
    {
      name: 'addNotebookCell',
      arguments: { type: 'code', content: '1 + 41', run: true }
    },
    null,
    2
  );
  await model.script(
    { say: `\`\`\`json\n${call}\n\`\`\``, chunk: 4, delayMs: 2 },
    { say: 'The sum is 42.' }
  );
  await panel.mode('agent');
  await panel.send('Add a cell that adds 1 and 41, and run it');
  await expect(panel.root).toContainText('so it may be an example');
  expect(await notebook.sources()).toEqual(['a = 1']);
  await panel.approve();
  await panel.ended();
  expect(await notebook.sources()).toEqual(['a = 1', '1 + 41']);
  const line = panel.root.locator(
    '[data-testid="da-notice"][data-code="not_done"]'
  );
  await expect(line).toHaveCount(0);
  await expect(panel.root).toContainText('The sum is 42.');
  const announced = panel.root.locator('div.da-hidden[role="status"]');
  await expect(announced).toHaveText('Done.');
  await expect(panel.root).not.toContainText('"arguments"');

  await model.script({
    say: `This adds the cell:\n\`\`\`json\n${call}\n\`\`\``
  });
  await panel.send('Add one more');
  await panel.ended(2);
  await expect(line).toContainText(
    'This looks like a call of addNotebookCell. It was not carried out: the answer has other text as well.'
  );
  await expect(announced).toHaveText(/^This looks like a call/);
  expect(await notebook.sources()).toEqual(['a = 1', '1 + 41']);
  await shootBoth(tab, 'call-as-text');
});
