import { expect, test } from '../support/fixtures';
import { LAST_CELL, PlanPart, add, planOf } from '../support/plans';
import { openWork } from '../support/work';

const UNTIL_GO = `import os, time
while not os.path.exists("go"):
    time.sleep(0.05)`;

test('a plan is edited by the keyboard before it runs: the edited steps run, no others', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const { page, panel } = tab;
  const plan = new PlanPart(panel);
  await model.script(
    planOf('Load the cars', 'Plot them', 'Conclude'),
    add("'conclusion'"),
    { say: 'Concluded.' },
    add("'table'"),
    { say: 'A table.' }
  );
  await panel.root.getByTestId('da-plan-first').click();
  await panel.send('Look at the cars');
  await expect(plan.steps).toHaveCount(3);
  await expect(plan.root).toContainText('Tools: add a cell');
  await expect(plan.root).toContainText('Takes about: a minute');
  await expect(panel.root).toContainText('Waiting for you to approve the plan');
  expect(await notebook.sources()).toEqual(['a = 1']);

  // The light leads to the plan; from there on by keys alone.
  await panel.root.getByRole('button', { name: 'Waiting for you' }).click();
  await expect(plan.approve).toBeFocused();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(plan.fields.nth(0)).toBeFocused();
  await page.keyboard.press('Alt+ArrowDown');
  await page.keyboard.press('Alt+ArrowDown');
  await expect(plan.fields.nth(2)).toHaveValue('Load the cars');
  await expect(plan.fields.nth(2)).toBeFocused();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await expect(plan.fields).toHaveCount(2);
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('Conclude');
  await plan.fields.nth(0).fill('   ');
  // Escape in a field does not stop the turn.
  await page.keyboard.press('Escape');

  // Refused: it is said here, and nothing that was typed is lost.
  await page.keyboard.press('Control+Enter');
  await expect(plan.root.getByRole('alert')).toContainText('is empty');
  await expect(plan.fields.nth(1)).toHaveValue('Conclude');
  await plan.root.getByRole('button', { name: 'Remove step 1' }).click();
  await expect(plan.fields.first()).toBeFocused();
  await page.keyboard.press('Enter');
  await page.keyboard.type('Make a table');
  // What is not sent yet is the user's work, too.
  await tab.loadAgain();
  await expect(plan.fields).toHaveCount(2);
  await expect(plan.fields.nth(0)).toHaveValue('Conclude');
  await expect(plan.fields.nth(1)).toHaveValue('Make a table');
  await plan.run.click();

  await panel.ended();
  expect(await notebook.sources()).toEqual([
    'a = 1',
    "'conclusion'",
    "'table'"
  ]);
  await expect(plan.root).toHaveCount(0);
  await plan.kept.getByRole('button').first().click();
  await expect(plan.kept.locator('.da-step')).toHaveText([
    /1\.Conclude/,
    /2\.Make a table/
  ]);
  // The switch is remembered by the session.
  await tab.loadAgain();
  await expect(panel.root.getByTestId('da-plan-first')).toHaveAttribute(
    'aria-checked',
    'true'
  );
});

test('a running plan is paused after its step, and goes on', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const plan = new PlanPart(tab.panel);
  await model.script(
    planOf('Wait', 'Count'),
    add(UNTIL_GO),
    { say: 'Waited.' },
    add("'counted'"),
    { say: 'Counted.' }
  );
  await tab.panel.send('agent: wait, then count');
  await expect(plan.steps.first()).toHaveAttribute(
    'data-status',
    'in_progress'
  );
  await expect(notebook.prompt(1)).toHaveText('[*]:');
  await plan.pause.click();
  await expect(plan.root).toContainText('Pausing after this step');
  await server.text(`${tab.folder}/go`, '');
  await expect(plan.root).toContainText('Plan paused · 1 of 2 done');
  await expect(tab.panel.root).toContainText('Paused: waiting for you');
  expect(await notebook.sources()).toHaveLength(2);
  await plan.continue.click();
  await tab.panel.ended();
  expect((await notebook.sources())[2]).toBe("'counted'");
});

test('a plan that stopped goes on where it stopped, after the user fixed it and reloaded', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const plan = new PlanPart(tab.panel);
  const worse = {
    call: 'updateNotebookCell',
    arguments: {
      cellId: LAST_CELL,
      content: '3 / 0',
      run: true
    }
  };
  await model.script(
    planOf('One', 'Two', 'Three'),
    add("'one'"),
    { say: 'One.' },
    add('2 / 0'),
    worse,
    worse
  );
  await tab.panel.send('agent: count');
  await tab.panel.ended(1, 'aborted');
  await expect(tab.panel.answers.last()).toContainText(
    'Stopped at step 2 of 3'
  );
  await expect(plan.kept).toContainText('ZeroDivisionError');
  await tab.loadAgain();
  await expect(plan.continue).toHaveText('Continue with step 2');
  await notebook.ready();
  await notebook.edit(2);
  await tab.page.keyboard.press('ControlOrMeta+A');
  await tab.page.keyboard.type('3 / 1');
  await model.script(
    {
      call: 'runNotebookCells',
      arguments: { cellIds: [LAST_CELL] }
    },
    { say: 'It runs now.' },
    add("'three'"),
    { say: 'Done.' }
  );
  await plan.continue.click();
  await tab.panel.ended(2);
  await expect(tab.panel.answers.last()).toContainText('3 of 3 steps done');
  expect(await notebook.sources()).toEqual([
    'a = 1',
    "'one'",
    '3 / 1',
    "'three'"
  ]);
  await expect(plan.continue).toHaveCount(0);
});

test('a plan that waits is still there after a reload and a kill -9 of the server', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const plan = new PlanPart(tab.panel);
  await model.script(
    planOf('One', 'Two'),
    add("'1'"),
    { say: 'One.' },
    add("'2'"),
    {
      say: 'Two.'
    }
  );
  await tab.panel.root.getByTestId('da-plan-first').click();
  await tab.panel.send('Count');
  await expect(plan.approve).toBeVisible();
  await tab.loadAgain();
  await expect(plan.steps).toHaveCount(2);
  await expect(plan.approve).toBeEnabled();

  await server.kill();
  await expect(tab.panel.root).toContainText('Connection lost');
  await server.startAgain();
  await expect(tab.panel.root).not.toContainText('Connection lost', {
    timeout: 40_000
  });
  await tab.closeDialogs();
  await plan.approve.click();
  await tab.panel.ended();
  expect(
    (await server.read(notebook.path)).cells.map(cell => cell.source)
  ).toEqual(['a = 1', "'1'", "'2'"]);
});

test('an approval that waits is still there after a reload and a kill -9 of the server', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2');
  await model.script(
    { call: 'getNotebookCells' },
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'Removed.' }
  );
  await tab.panel.send('Remove the second cell');
  await expect(tab.panel.waiting).toContainText('Remove cell 2');
  await tab.loadAgain();
  // JupyterLab puts the keyboard there when it has restored it.
  await notebook.ready();
  await expect(tab.panel.waiting).toContainText('b = 2');
  await server.kill();
  await expect(tab.panel.root).toContainText('Connection lost');
  await server.startAgain();
  await expect(tab.panel.root).not.toContainText('Connection lost', {
    timeout: 40_000
  });
  await tab.closeDialogs();
  // By keys: the button goes, and the keyboard goes to the input.
  await tab.panel.root.getByTestId('da-approve').press('Enter');
  await expect(tab.panel.input).toBeFocused();
  await tab.panel.ended();
  expect(
    (await server.read(notebook.path)).cells.map(cell => cell.source)
  ).toEqual(['a = 1']);
});

test('a plan that is rejected does nothing, and leads back to the input', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const plan = new PlanPart(tab.panel);
  await model.script(planOf('One'));
  await tab.panel.root.getByTestId('da-plan-first').click();
  await tab.panel.send('Count');
  await plan.reject.click();
  await tab.panel.ended(1, 'aborted');
  await expect(tab.panel.input).toBeFocused();
  await expect(plan.root).toHaveCount(0);
  await expect(plan.kept).toContainText('Plan not approved');
  await expect(tab.panel.root.getByTestId('da-changes')).toHaveCount(0);
  expect(await notebook.sources()).toEqual(['a = 1']);
});

test('the steps are beside their decision, whatever was done with the plan before', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const { panel, page } = tab;
  await page.setViewportSize({ width: 1000, height: 700 });
  const plan = new PlanPart(panel);
  const noted = (...steps: string[]) => ({
    call: 'updatePlan',
    arguments: { steps: steps.map(description => ({ description })) }
  });
  const many = Array.from({ length: 12 }, (_, i) => `Step number ${i + 1}`);
  await model.script(planOf('Wait'), add(UNTIL_GO), { say: 'Waited.' });
  await panel.send('agent: wait');
  await expect(plan.steps).toHaveCount(1);
  await plan.root.locator('[aria-expanded]').click();
  await expect(plan.steps).toHaveCount(0);
  await server.text(`${tab.folder}/go`, '');
  await panel.ended();

  // The model notes its plan down by the tool: these are the steps to decide on.
  await model.script(noted(...many), add("'done'"), { say: 'Done.' });
  await panel.root.getByTestId('da-plan-first').click();
  await panel.send('Do all of it');
  await expect(plan.approve).toBeInViewport({ ratio: 1 });
  await expect(plan.steps).toHaveText(many.map(each => new RegExp(each)));
  await expect(plan.steps.first()).toBeInViewport({ ratio: 1 });
  await expect(
    panel.root.locator('[data-testid="da-tool-call"][data-status="running"]')
  ).toHaveCount(0);
  await expect(plan.root.locator('[aria-expanded]')).toHaveCount(0);
  await plan.edit.click();
  await expect(plan.run).toBeInViewport({ ratio: 1 });
  await expect(plan.fields.first()).toBeInViewport({ ratio: 1 });
  for (let left = many.length; left > 1; left--) {
    await plan.root
      .getByRole('button', { name: `Remove step ${left}` })
      .click();
  }
  await plan.run.click();
  await panel.ended(2);
  expect((await notebook.sources()).slice(2)).toEqual(["'done'"]);
});
