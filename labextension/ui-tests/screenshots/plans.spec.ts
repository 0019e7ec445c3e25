import { expect, test } from '../support/fixtures';
import { LAST_CELL, PlanPart, add, planOf } from '../support/plans';
import { pictures, shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

test.use({ keepsTab: false });

const WAIT = `import os, time
while not os.path.exists("go"):
    time.sleep(0.05)`;

pictures('plans and changes', async ({ tab, model, server }) => {
  const notebook = await openWork(
    tab,
    'import pandas as pd\n\ncars = pd.read_csv("cars.csv")',
    'cars.shape'
  );
  const { page, panel } = tab;
  const plan = new PlanPart(panel);
  const both = async (name: string) => {
    for (const width of [400, 300]) {
      await tab.panelWidth(width);
      await shootBoth(tab, `${name}-${width}`);
    }
  };
  await page.evaluate(async () => {
    await window.jupyterapp.commands.execute('application:toggle-left-area');
  });
  await model.script(
    planOf(
      'Load cars.csv and show its shape and types',
      'Find missing values in every column and say how many there are',
      'Plot the horsepower by origin',
      'Draw conclusions from the figures'
    ),
    add('cars.shape'),
    { say: 'There are 406 cars.' },
    add('cars["Horsepowr"].isna().sum()'),
    { say: 'Fixed.' },
    add(WAIT),
    { say: 'Waited.' },
    { call: 'getNotebookCells' },
    { say: 'Concluded.' }
  );
  await panel.root.getByTestId('da-plan-first').click();
  await panel.send('Look at the cars');
  await expect(plan.approve).toBeVisible();
  await both('plan-proposed');
  await plan.edit.click();
  await plan.fields.nth(1).press('Enter');
  await page.keyboard.type('Count the cars by year');
  await both('plan-editing');
  await panel.root.getByTestId('da-plan-cancel').click();
  await plan.approve.click();
  await expect(plan.steps.nth(2)).toHaveAttribute('data-status', 'in_progress');
  await expect(panel.root).toContainText('Running cell');
  await both('plan-running');
  await server.text(`${tab.folder}/go`, '');
  await panel.ended();
  await panel.changes.getByRole('button', { name: 'View' }).click();
  await both('changes');
  await panel.changes.getByRole('button', { name: 'Hide' }).click();
  await notebook.type(2, '  # mine');
  await panel.root.getByTestId('da-undo').click();
  await expect(panel.root.getByTestId('da-conflict')).toBeVisible();
  await both('conflict');

  await panel.root.getByTestId('da-new-session').click();
  const worse = {
    call: 'updateNotebookCell',
    arguments: { cellId: LAST_CELL, content: '3 / 0', run: true }
  };
  await model.script(
    planOf('Add up the weights', 'Divide by the number of cars'),
    add("'weights'"),
    { say: 'Added up.' },
    add('2 / 0'),
    worse,
    worse
  );
  await panel.send('agent: the mean weight');
  await plan.approve.click();
  await panel.ended(1, 'aborted');
  await expect(plan.continue).toBeVisible();
  await both('plan-stopped');
});
