import { expect, test } from '../support/fixtures';
import { shoot, shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

const BROKEN =
  "import pandas as pd\n\ncars = pd.read_csv('cars.csv')\ncars['Horsepowr'].max()";

test('a cell that failed in a turn is fixed by a click, whatever the mode', async ({
  tab,
  model
}) => {
  const { panel } = tab;
  const notebook = await openWork(tab, BROKEN);
  await tab.panelWidth(320);
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { say: 'There is no column `Horsepowr`.' }
  );
  await panel.ask('Run it');
  await panel.mode('ask');
  const chip = panel.root.getByTestId('da-fix');
  await expect(chip).toContainText('Horsepower');
  await shootBoth(tab, 'fix');
  await chip.click();
  await panel.ended(2);
  expect((await notebook.sources())[0]).toContain("cars['Horsepower']");
  await expect(notebook.cells).toContainText('230');
  // Done by no model.
  expect(await model.requests()).toHaveLength(2);
  // The offer was about the cell as it was then.
  await expect(chip).toHaveCount(0);
  await shootBoth(tab, 'fixed');
});

test('cells that failed for the user are fixed from a conversation', async ({
  tab,
  model
}) => {
  const { panel } = tab;
  const notebook = await openWork(tab, BROKEN, 'cars.shap', 'ok = 1');
  await tab.panelWidth(300);
  await model.script({ say: 'There are cars in it.' });
  await panel.ask('What is in it?');
  const line = panel.root.getByTestId('da-fix-line');
  await expect(line).toHaveCount(0);
  await notebook.kernelReady();
  await notebook.run(0);
  await expect(line).toContainText('Horsepower');
  await shootBoth(tab, 'fix-line');
  await line.getByTestId('da-fix').first().click();
  await panel.ended(2);
  await expect(notebook.cells.first()).toContainText('230');
  await expect(line).toHaveCount(0);
  // Done by no model.
  expect(await model.requests()).toHaveLength(1);
});

test('the start page with a model', async ({ tab }) => {
  const { panel } = tab;
  const notebook = await openWork(tab, BROKEN);
  await tab.panelWidth(320);
  await notebook.kernelReady();
  await notebook.run(0);
  await expect(notebook.cells).toContainText('KeyError');
  await panel.root.getByTestId('da-new-session').click();
  const start = panel.root.locator('.da-welcome');
  await expect(start).toContainText('Fix the KeyError in cell 1');
  await expect(start.getByTestId('da-fix').first()).toBeVisible();
  const folded = start.getByRole('button', { name: /Check quality/ });
  await expect(folded).toBeHidden();
  await shootBoth(tab, 'start-with-model');
  await start.getByText('Workflows, quality, tutorials').press('Enter');
  await folded.click();
  const card = panel.root.getByTestId('da-quality');
  await expect(card.getByRole('meter')).toBeVisible();
  await shootBoth(tab, 'quality-with-model');
  await card.getByRole('button', { name: /Ask the agent/ }).click();
  await expect(panel.input).toHaveValue(/^Improve the quality/);
  await expect(panel.input).toBeFocused();
});

test('a fix that is not safe says what it would do, and asks', async ({
  tab
}) => {
  const { panel } = tab;
  const notebook = await openWork(tab, 'import no_such_module_anywhere');
  await notebook.kernelReady();
  await notebook.run(0);
  await expect(notebook.cells).toContainText('ModuleNotFoundError');
  const chip = panel.root.getByTestId('da-fix').first();
  await expect(chip).toContainText('Install');
  await expect(chip).toHaveAttribute('data-safe', 'false');
  await chip.press('Enter');
  const question = panel.root.getByRole('group', { name: /Install/ });
  await expect(question).toContainText('%pip install');
  await expect(question.getByRole('button', { name: 'Apply' })).toBeFocused();
  await shoot(tab, 'fix-asks');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(question).toHaveCount(0);
  await expect(panel.turns).toHaveCount(0);
});
