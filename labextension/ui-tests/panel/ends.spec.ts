import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

const PLAN = 'The user wants the sum.';

test('an answer that was cut off says so, and goes on by a click; reasoning without an answer says what to do', async ({
  tab,
  model
}) => {
  await openWork(tab, 'a = 1');
  const { panel } = tab;
  const notice = panel.root.getByTestId('da-notice');
  const goOn = panel.root.getByTestId('da-continue');
  const reasoning = panel.root.getByRole('button', { name: 'Reasoning' });
  await model.script(
    { answer: [{ say: 'Once upon a time there was' }], finish: 'length' },
    { say: ' a notebook.' },
    { answer: [{ reasoning: PLAN }], finish: 'length' }
  );
  await panel.send('Tell me a story');
  await panel.ended();
  await expect(panel.answers.last()).toContainText('Once upon a time');
  await expect(notice).toContainText('cut off after');
  await shootBoth(tab, 'cut-off');
  await goOn.click();
  await panel.ended(2);
  await expect(panel.answers.last()).toContainText('a notebook.');
  await expect(goOn).toHaveCount(0);
  await expect(notice).toHaveCount(1);

  await panel.send('And the sum?');
  await panel.ended(3, 'aborted');
  await expect(notice.last()).toContainText('before it answered');
  await expect(notice.last()).toContainText('max_output_tokens');
  await reasoning.click();
  await expect(panel.root.locator('.da-reasoning-text')).toHaveText(PLAN);
  await shootBoth(tab, 'only-reasoning');
});

test('an answer whose end the server did not say is shown once, and goes on by a click', async ({
  tab,
  model
}) => {
  await openWork(tab, 'a = 1');
  const { panel } = tab;
  const silent = { noFinish: { say: 'Once upon a time' }, done: false };
  await model.script({ say: 'Hello.' }, silent, silent, {
    say: ' a notebook.'
  });
  await panel.send('Hello');
  await panel.ended();
  await panel.send('Tell me a story');
  await panel.ended(2);
  await expect(panel.answers.last()).toHaveText(/^\s*Once upon a time\s*$/);
  await expect(panel.root.getByTestId('da-notice')).toContainText(
    'The connection ended before the answer was complete'
  );
  await panel.root.getByTestId('da-continue').click();
  await panel.ended(3);
  await expect(panel.answers.last()).toContainText('a notebook.');
});

test('thinking in the text is shown as reasoning, also where only its end is marked', async ({
  tab,
  model
}) => {
  await openWork(tab, 'a = 1');
  const { panel } = tab;
  const reasoning = panel.root.getByRole('button', { name: 'Reasoning' });
  await model.script(
    {
      gate: { say: `${PLAN}\n</think>\n\nIt is **42**.`, chunk: 4 },
      after: 4
    },
    { say: `<think>\n${PLAN}\n</think>\n\nIt is 43.`, chunk: 4 }
  );
  await panel.send('The sum?');
  await model.atGate();
  await expect(panel.answers.last()).toContainText('The user wants');
  await model.release();
  await panel.ended();
  await expect(panel.answers).toHaveCount(1);
  await expect(panel.answers.last()).toHaveText(/^\s*It is 42\.\s*$/);
  await expect(reasoning).toHaveCount(1);
  await panel.send('And one more?');
  await panel.ended(2);
  await expect(panel.answers.last()).toHaveText(/^\s*It is 43\.\s*$/);
  await reasoning.last().click();
  await shootBoth(tab, 'reasoning');
  await tab.loadAgain();
  await expect(panel.answers).toHaveText([
    /^\s*It is 42\.\s*$/,
    /^\s*It is 43\.\s*$/
  ]);
  await expect(reasoning).toHaveCount(2);
});

test('an inline edit behind thinking shows its diff, and one that was cut off says so', async ({
  tab,
  model,
  server
}) => {
  await server.notebook(`${tab.folder}/inline.ipynb`, [
    { source: 'a = 1', id: 'first' }
  ]);
  await tab.load('inline.ipynb');
  const notebook = tab.notebook('inline.ipynb');
  await notebook.ready();
  const chat = new InlineChat(tab);
  const edit = '```python cell=first\na = 10\n```\n';
  await model.script(
    {
      say: `<think>\n\`\`\`python cell=first\na = 99\n\`\`\`\n</think>\n\n${edit}`,
      chunk: 5
    },
    {
      answer: [{ say: 'It is a number that you' }],
      finish: 'length'
    }
  );
  await notebook.edit(0);
  await chat.open();
  await chat.ask('Ten times');
  await expect(chat.accept).toBeVisible();
  await expect(chat.removedLines).toHaveText(['a = 1']);
  await expect(chat.addedLines).toHaveText(['a = 10']);
  await expect(chat.root).not.toContainText('99');
  await shootBoth(tab, 'inline-thinking', 'window');
  await chat.reject.click();
  await tab.page.keyboard.press('Escape');
  await notebook.edit(0);
  await chat.open();
  await chat.ask('What is a?');
  await expect(chat.root).toContainText('cut off after');
  await shootBoth(tab, 'inline-cut-off', 'window');
});
