import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { PlanPart, add } from '../support/plans';
import { shootBoth } from '../support/screenshots';

const planned = (...steps: object[]) => ({
  say: JSON.stringify({ steps, requiredTools: [] })
});

const EXPORT = {
  description: 'Export the notebook as HTML',
  action: 'notebook/export',
  parameters: { format: 'html' }
};
const NOTE = { description: 'Add a note', toolCalls: ['addNotebookCell'] };
const CLEAN = {
  description: 'Take the outputs out of the notebook',
  action: 'notebook/clean',
  parameters: {}
};

const form = ({ panel }: LabPage) => panel.root.getByTestId('da-action-form');

test('a plan waits at an action; the user runs it in its form, over a reload, and the plan goes on', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await lab.panelWidth(300);
  const plan = new PlanPart(panel);
  await model.script(planned(EXPORT, NOTE), add("'note'"), {
    say: 'The note is there.'
  });
  await panel.send('agent: export the notebook as HTML, then add a note');
  await expect(plan.root).toHaveAttribute('data-state', 'waiting');
  await expect(plan.root).toContainText('Plan waits for you');
  await expect(plan.steps.first()).toContainText('waits for you');
  await expect(panel.root).toContainText('Waiting for you to run the action');
  const proposal = panel.root.getByTestId('da-proposal');
  await expect(proposal).toContainText('Export the notebook');
  await expect(proposal).toContainText('HTML');
  await shootBoth(lab, 'plan-action-waiting-300');

  await lab.loadAgain();
  await plan.root.getByTestId('da-plan-review').click();
  const open = proposal.getByRole('button', { name: 'Export the notebook' });
  await expect(open).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(form(lab).getByRole('button', { name: 'Run' })).toBeFocused();
  await shootBoth(lab, 'plan-action-form-300');
  await form(lab).getByRole('button', { name: 'Cancel' }).click();
  await expect(plan.root).toHaveAttribute('data-state', 'waiting');
  await expect(open).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(form(lab).getByRole('button', { name: 'Run' })).toBeFocused();
  await page.keyboard.press('Enter');
  await panel.ended();
  await expect(panel.root.getByTestId('da-action-result')).toContainText(
    /Exported .*cars\.ipynb to/
  );
  await expect(panel.answers.last()).toContainText('2 of 2 steps done');
  await expect(plan.kept).toContainText('2 of 2 done');
  await shootBoth(lab, 'plan-action-done-300');
});

test('an action of a plan is skipped, moved behind other steps, or left by Stop', async ({
  lab,
  model
}) => {
  const { panel } = lab;
  const plan = new PlanPart(panel);
  await model.script(planned(CLEAN, EXPORT, NOTE), add("'note'"), {
    say: 'The note is there.'
  });
  await panel.send('agent: clean the notebook, export it as HTML, add a note');
  const proposal = panel.root.getByTestId('da-proposal');
  await expect(proposal).toContainText('Clean the notebook');
  await panel.root.getByRole('button', { name: 'Waiting for you' }).click();
  await expect(
    proposal.getByRole('button', { name: 'Clean the notebook' })
  ).toBeFocused();
  await plan.root.getByTestId('da-plan-skip').click();
  await expect(plan.steps.nth(0)).toContainText('skipped');
  await expect(plan.steps.nth(1)).toContainText('waits for you');
  await expect(proposal).toHaveCount(1);
  await shootBoth(lab, 'plan-action-skipped');

  await plan.edit.click();
  await expect(plan.fields).toHaveCount(2);
  await plan.fields.first().press('Alt+ArrowDown');
  await plan.run.click();
  await expect(plan.steps.nth(1)).toContainText('Add a note');
  await expect(plan.steps.nth(2)).toContainText('waits for you');
  await panel.root.getByTestId('da-plan-stop').click();
  await panel.ended(1, 'aborted');
  await expect(plan.kept).toContainText('Plan stopped');
  await expect(plan.continue).toHaveText('Continue with step 3');
  await plan.continue.click();
  await expect(plan.steps.nth(2)).toContainText('waits for you');
  await expect(proposal).toHaveCount(1);
});
