import { Locator } from '@playwright/test';

import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { ScriptedModel } from '../support/model';
import { PlanPart, add, planOf } from '../support/plans';
import { shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

/** What may be between the conversation and the input. */
const TRAY = '.da-tray';

const heightOf = async (part: Locator) => (await part.boundingBox())!.height;

/** A plan that runs, an approval, changes, waiting messages and an upload, all at once. */
async function everythingAtOnce(
  tab: LabPage,
  model: ScriptedModel
): Promise<void> {
  await openWork(tab, 'a = 1', 'b = 2');
  const { page, panel } = tab;
  await model.script(
    add('"one"'),
    add('"two"'),
    { say: 'Added two cells.' },
    planOf(
      'Remove the second cell, which nothing uses',
      'Load cars.csv and show its shape and types',
      'Find missing values in every column and say how many there are',
      'Plot the horsepower by origin',
      'Draw conclusions from the figures'
    ),
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } }
  );
  await panel.ask('Add two cells');
  await expect(panel.changes).toContainText('2 cells changed');
  await panel.root.getByTestId('da-plan-first').click();
  await panel.send('Look at the cars');
  await new PlanPart(panel).approve.click();
  await expect(panel.waiting).toContainText('Remove cell 2');
  await panel.send('Then compare the weights');
  await panel.send('And write a summary of all that was found');
  await expect(panel.root.locator('.da-queued')).toHaveCount(2);
  await panel.root.getByTestId('da-attach').click();
  const choosing = page.waitForEvent('filechooser');
  await panel.root.getByTestId('da-upload-data').click();
  await (
    await choosing
  ).setFiles({
    name: 'streets.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('town,people\nA,1\nB,2\n1,2,3\n')
  });
  await expect(panel.root.getByTestId('da-upload')).toHaveAttribute(
    'data-stage',
    'done'
  );
}

/** The conversation has its half, the input is whole, and all else is reached in one place. */
async function expectRoom(tab: LabPage): Promise<void> {
  const { panel } = tab;
  const log = panel.root.getByRole('log');
  const whole = (await panel.root.boundingBox())!;
  expect(await heightOf(log)).toBeGreaterThanOrEqual(whole.height / 2);

  const composer = (await panel.root.locator('.da-composer').boundingBox())!;
  expect(composer.y + composer.height).toBeLessThanOrEqual(
    whole.y + whole.height
  );
  const tray = panel.root.locator(TRAY);
  expect(await heightOf(tray)).toBeGreaterThanOrEqual(60);
  for (const part of [
    panel.root.getByTestId('da-plan'),
    panel.changes,
    panel.root.locator('.da-queue'),
    panel.root.getByTestId('da-uploads')
  ]) {
    await part.scrollIntoViewIfNeeded();
    await expect(part).toBeInViewport();
    // Nothing in it scrolls by itself.
    const inner = await part.evaluate(node =>
      [node, ...node.querySelectorAll('*')]
        .filter(each => each.scrollHeight > each.clientHeight + 1)
        .map(each => [each, getComputedStyle(each).overflowY] as const)
        .filter(([, overflow]) => /auto|scroll/.test(overflow))
        .map(([each]) => each.className)
    );
    expect(inner).toEqual([]);
  }
  await tray.evaluate(node => node.scrollTo(0, 0));
}

test('the conversation keeps half of the panel, whatever else is there', async ({
  tab,
  model
}) => {
  await tab.page.setViewportSize({ width: 1000, height: 700 });
  await everythingAtOnce(tab, model);
  await shootBoth(tab, 'all-at-once-1000x700', 'window');
  await expectRoom(tab);
  await tab.panelWidth(300);
  await expectRoom(tab);
  await shootBoth(tab, 'all-at-once-300');
  await tab.page.setViewportSize({ width: 1280, height: 800 });
  await tab.panelWidth(300);
  await expectRoom(tab);
  // A long message does not take the room of what it is an answer to.
  await tab.panel.input.fill('A line of it\n'.repeat(12));
  await expectRoom(tab);
  await shootBoth(tab, 'all-at-once-long-message');
});

test('the context strip stays as high as it is, whatever is attached', async ({
  tab
}) => {
  await tab.load('cars.ipynb');
  await tab.notebook('cars.ipynb').ready();
  const { page, panel } = tab;
  const strip = panel.root.getByRole('group', { name: 'Context' });
  const log = panel.root.getByRole('log');
  const boxes = () =>
    Promise.all(
      [strip, log].map(async part => {
        const { y, height } = (await part.boundingBox())!;
        return { y, height };
      })
    );
  for (const width of [300, 380, 560]) {
    await tab.panelWidth(width);
    await expect(strip).toContainText('tokens');
    const before = await boxes();
    await strip.getByTitle(/^Attach /).click();
    await expect(panel.attachments).toContainText(['cars.ipynbcan read']);
    await expect(strip).toContainText('tokens');
    expect(await boxes()).toEqual(before);
    for (const list of ['cells', 'tools']) {
      await panel.root.getByTestId('da-attach').click();
      await panel.root.getByTestId(`da-attach-${list}`).click();
      await panel.root.locator('.da-attach .da-menu-item').nth(1).click();
      await page.keyboard.press('Escape');
    }
    await expect(panel.attachments).toHaveCount(3);
    expect(await boxes()).toEqual(before);
    await shootBoth(tab, `context-${width}`);
    while (await panel.attachments.count()) {
      await panel.attachments
        .first()
        .getByRole('button', { name: 'Remove' })
        .click();
    }
    expect(await boxes()).toEqual(before);
  }
});

test('an approval says its thing once; a workflow is one line that opens', async ({
  tab,
  model
}) => {
  await openWork(tab, 'a = 1', 'b = 2', 'c = 3');
  const { panel } = tab;
  await model.script(
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } },
    {
      call: 'deleteNotebookCells',
      arguments: { cellIds: ['cell-0', 'cell-2'] }
    },
    { say: 'Kept.' }
  );
  await panel.send('Remove the second cell, then the others');
  const title = panel.waiting.getByRole('button', { name: 'Remove cell 2' });
  await expect(title).toBeVisible();
  const text = () =>
    panel.waiting.evaluate(node => (node as HTMLElement).innerText);
  expect((await text()).match(/remove cell 2|delete/gi)).toHaveLength(1);
  expect((await text()).match(/b = 2/g)).toHaveLength(1);
  await shootBoth(tab, 'approval-once');
  await panel.root.getByTestId('da-deny').click();
  await expect(panel.waiting).toContainText(
    /^Remove cells 1, 3\?Cell 1- a = 1Cell 3- c = 3Approve/
  );
  await shootBoth(tab, 'approval-of-two');
  await panel.root.getByTestId('da-deny').click();
  await panel.ended();

  await panel.input.fill('/workflows');
  await panel.input.press('Enter');
  await panel.root.locator('[data-item="data-analysis-notebook"]').click();
  const form = panel.root.getByTestId('da-workflow-form');
  await expect(form.getByLabel('Data file')).not.toHaveValue('');
  await shootBoth(tab, 'workflow-form');
  await form.getByRole('button', { name: 'Run' }).click();
  await panel.ended(2);
  const calls = panel.turns.last().getByTestId('da-tool-call');
  await expect(calls).toHaveCount(1);
  await expect(calls).toHaveText(/^\d\d cells added/);
  await shootBoth(tab, 'workflow-folded');
  const count = parseInt((await calls.textContent())!);
  await calls.getByRole('button').click();
  await expect
    .poll(() => calls.locator('[data-tool="addNotebookCell"]').count())
    .toBe(count);
});
