import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { seriousFaults } from '../support/axe';
import { shootBoth, useTheme } from '../support/screenshots';

// Both are asked at the scripted model's address, as every model with `api_base`.
test.use({
  environment: { MISTRAL_API_KEY: 'a-key', DEEPSEEK_API_KEY: 'another-key' }
});

const MISTRAL = 'mistral-large-latest';
const DEEPSEEK = 'deepseek-v4-pro';
const FLASH = 'deepseek-v4-flash';
const OWN = ['Mistral Large', 'DeepSeek V4 Pro', 'DeepSeek V4 Flash'];

const MEAN = `The mean horsepower of American cars is **119.05**, over 249 cars.

\`\`\`python
cars.groupby("Origin")["Horsepower"].mean()
\`\`\`

Six cars have no value and are left out.`;
const MEDIAN =
  'The **median** is 105. The mean is pulled up by a few large engines, so I would report the median.';
const SYNTHESIS =
  'Both take the American cars alone. They differ in the measure: the mean is 119.05 [1], the median 105 [2]. Code as `x[1]` is no citation.';

/** An answer of the newest turn, by the model's name. */
const answerOf = (lab: LabPage, name: string) =>
  lab.panel.turns.last().getByRole('region', { name: `Answer of ${name}` });

/** What axe finds in the panel, in both themes. */
async function faults(lab: LabPage): Promise<string[]> {
  const found: string[] = [];
  for (const theme of ['dark', 'light'] as const) {
    await useTheme(lab, theme);
    found.push(...(await seriousFaults(lab.page, '.da-panel')));
  }
  return found;
}

test('models are chosen by the keyboard, answer side by side, and one is used', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await page.evaluate(async () => {
    await window.jupyterapp.commands.execute('application:toggle-left-area');
  });
  await lab.panelWidth(640);
  await panel.attach('cars.ipynb');
  await model.always({
    byModel: {
      [MISTRAL]: [{ gate: { say: MEAN, chunk: 12 }, after: 3 }],
      [DEEPSEEK]: [
        { call: 'getNotebookCells' },
        { gate: { say: MEDIAN, chunk: 12 }, after: 3 }
      ],
      [FLASH]: [
        { status: 401, body: { error: { message: 'Your key was refused' } } }
      ]
    }
  });
  await panel.input.fill('/compare How strong are American cars?');
  await page.keyboard.press('Enter');
  const card = panel.root.getByTestId('da-compare');
  const message = card.getByLabel('Message to several models');
  await expect(message).toHaveValue('How strong are American cars?');
  await expect(panel.input).toHaveValue('');
  const compare = card.getByRole('button', { name: 'Compare', exact: true });
  await expect(compare).toBeFocused();
  // By the keyboard alone: other models than those that are chosen at first.
  const boxes = card.getByRole('checkbox');
  await expect(card.getByRole('checkbox', { checked: true })).toHaveCount(2);
  await message.focus();
  const count = await boxes.count();
  for (let index = 0; index < count; index++) {
    await page.keyboard.press('Tab');
    await expect(boxes.nth(index)).toBeFocused();
    const name = await boxes.nth(index).locator('..').innerText();
    const isWanted = OWN.includes(name.trim());
    if (isWanted !== (await boxes.nth(index).isChecked())) {
      await page.keyboard.press('Space');
    }
  }
  await expect(card.getByRole('checkbox', { checked: true })).toHaveCount(3);
  await shootBoth(lab, 'compare-choice');
  expect(await faults(lab)).toEqual([]);
  await message.focus();
  await page.keyboard.press('Enter');

  // All at once: each shows what it does, and one that is refused does not stop the others.
  await expect.poll(async () => (await model.state()).waiting).toBe(2);
  await expect(card).toHaveCount(0);
  const [large, pro, flash] = OWN.map(name => answerOf(lab, name));
  await expect(large).toContainText('Answering');
  await expect(pro.getByTestId('da-tool-call')).toContainText('Read');
  await expect(flash.getByRole('alert')).toContainText('key');
  await shootBoth(lab, 'compare-running');
  const one = (await large.boundingBox())!;
  const two = (await pro.boundingBox())!;
  expect(one.y, 'side by side').toBe(two.y);
  expect(one.x).toBeLessThan(two.x);
  await model.release(2);
  await panel.ended();
  await expect(pro).toContainText('report the median');
  await expect(pro).toContainText('tokens in');

  // The first of the models counts until another one is chosen.
  const chosen = panel.turns.first().locator('[data-chosen="true"]');
  await expect(chosen).toHaveAttribute('aria-label', `Answer of ${OWN[0]}`);
  await pro.getByTestId('da-use-answer').focus();
  await page.keyboard.press('Enter');
  await expect(chosen).toHaveAttribute('aria-label', `Answer of ${OWN[1]}`);
  await expect(large.getByRole('button', { name: 'Copy code' })).toBeVisible();

  // A synthesis: its numbers lead to the answers.
  await model.always({ say: SYNTHESIS });
  await panel.root.getByTestId('da-synthesise').click();
  const synthesis = panel.root.getByTestId('da-synthesis');
  await expect(synthesis).toHaveAttribute('data-status', 'completed');
  const numbers = synthesis.locator('.da-markdown a');
  await expect(numbers).toHaveText(['[1]', '[2]']);
  await numbers.nth(1).click();
  await expect(pro).toBeFocused();
  await expect(pro.locator('.da-further-head')).toContainText('[2]');
  await shootBoth(lab, 'compare-synthesis');
  expect(await faults(lab)).toEqual([]);
  await lab.panelWidth(300);
  await shootBoth(lab, 'compare-300');
  const cut = await panel.root.evaluate(
    node =>
      [...node.querySelectorAll('.da-further, .da-answers')].filter(
        each => each.scrollWidth > each.clientWidth + 1
      ).length
  );
  expect(cut, 'nothing is cut off in a narrow panel').toBe(0);

  // What was chosen is sent with the next message, and stays after a reload.
  await synthesis.getByTestId('da-use-answer').click();
  await expect(chosen).toHaveAttribute('data-testid', 'da-synthesis');
  await model.always({ say: 'The median, then.' });
  await panel.ask('Which one do I report?', 2);
  const sent = (await model.requests()).pop()!.text;
  expect(sent).toContain('They differ in the measure');
  expect(sent).not.toContain('Six cars have no value');
  await lab.loadAgain();
  await expect(panel.turns).toHaveCount(2);
  const first = panel.turns.first();
  await expect(first.getByTestId('da-further-answer')).toHaveCount(3);
  await expect(first.getByTestId('da-went-on')).toHaveText(
    'Continued from the synthesis.'
  );
  await expect(first).toContainText('tokens in');
  await expect(first.getByTestId('da-use-answer')).toHaveCount(0);
});

test('models are named in the input, stopped together, and asked again', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  const held = { gate: { say: 'A long answer', chunk: 4 }, after: 1 };
  await model.always({ byModel: { [MISTRAL]: [held], [DEEPSEEK]: [held] } });
  await panel.input.fill('/compare ');
  await panel.input.pressSequentially('@mistral-l');
  await expect(
    page.getByRole('option', { name: `@mistral/${MISTRAL}` })
  ).toBeVisible();
  await panel.input.fill(
    `/compare @mistral/${MISTRAL} @${DEEPSEEK} Which measure?`
  );
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await model.state()).waiting).toBe(2);
  const card = panel.root.getByTestId('da-compare');
  await expect(card).toHaveCount(0);
  // A reload in the middle shows what there is, and both go on.
  await lab.loadAgain();
  for (const name of OWN.slice(0, 2)) {
    await expect(answerOf(lab, name)).toContainText('A lo');
    await expect(answerOf(lab, name)).toContainText('Answering');
  }
  await panel.stopButton.click();
  await panel.ended(1, 'aborted');
  await expect(panel.turns.last()).toContainText('Which measure?');
  for (const name of OWN.slice(0, 2)) {
    await expect(answerOf(lab, name)).toContainText('Stopped before its end.');
  }
  await model.reset();

  // A name that there is not: nothing is sent, and nothing is lost.
  await panel.input.fill('/compare @mistrel @nobody Which measure?');
  await page.keyboard.press('Enter');
  await expect(card.getByRole('alert')).toContainText('mistrel, nobody');
  await expect(card.getByLabel('Message to several models')).toHaveValue(
    'Which measure?'
  );
  await page.keyboard.press('Escape');
  await expect(panel.input).toHaveValue('Which measure?');
  await panel.input.fill('');

  // Several others answer what one answered.
  await model.script({ say: 'The mean.' });
  await panel.ask('Mean or median?', 2);
  await model.always({
    byModel: {
      [MISTRAL]: [{ say: 'The median, says Mistral.' }],
      [DEEPSEEK]: [{ say: 'Both, says DeepSeek.' }]
    }
  });
  const last = panel.turns.last();
  await last.getByTestId('da-turn-menu').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await page.getByRole('menuitem', { name: 'Several Models' }).click();
  await card.getByRole('checkbox', { name: OWN[0] }).check();
  await card.getByRole('checkbox', { name: OWN[1] }).check();
  await card.getByRole('button', { name: 'Regenerate', exact: true }).click();
  await expect(last.getByTestId('da-further-answer')).toHaveCount(2);
  await expect(last).toContainText('Both, says DeepSeek.');
  await expect(panel.root.getByTestId('da-synthesise')).toBeVisible();
  await expect(last.getByTestId('da-go-on').getByRole('radio')).toHaveCount(3);
  await shootBoth(lab, 'compare-regenerated');
});
