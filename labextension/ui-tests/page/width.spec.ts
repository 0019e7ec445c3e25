import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';

test.use({ keepsTab: false });

const widthOf = async (lab: LabPage) =>
  (await lab.panel.root.boundingBox())!.width;

test('the panel gets room when it is first opened, and keeps what the user gives it', async ({
  lab
}) => {
  const { page } = lab;
  await expect.poll(() => widthOf(lab)).toBeCloseTo(380, -1);
  const saved = page.waitForResponse(
    response =>
      response.request().method() === 'PUT' &&
      response.url().includes('/api/workspaces/') &&
      rightShare(response.request().postData()) < 0.28
  );
  await lab.panelWidth(300);
  await saved;
  await page.reload();
  await lab.shown();
  expect(await widthOf(lab)).toBeCloseTo(300, -1);
  // Closed and opened again it has the width that it had.
  await page.evaluate(async () => {
    const { commands, shell } = window.jupyterapp;
    await commands.execute('application:toggle-right-area');
    await commands.execute('application:toggle-right-area');
    shell.activateById('datalayer-agent-panel');
  });
  await expect.poll(() => widthOf(lab)).toBeCloseTo(300, -1);
});

test('in a small window it takes no more than two fifths, and no more than it leaves', async ({
  tab
}) => {
  await tab.page.setViewportSize({ width: 900, height: 700 });
  await tab.load('cars.ipynb');
  await expect.poll(() => widthOf(tab)).toBeGreaterThan(270);
  const width = await widthOf(tab);
  const main = await tab.page.locator('#jp-main-dock-panel').boundingBox();
  expect(width).toBeLessThanOrEqual(360);
  expect(width).toBeLessThanOrEqual(main!.width + 2);
});

/** What part of the window the right sidebar has in a workspace that is saved. */
function rightShare(workspace: string | null): number {
  const { data } = JSON.parse(workspace ?? '{}') as {
    data?: Record<string, { relativeSizes?: number[] }>;
  };
  return data?.['layout-restorer:data']?.relativeSizes?.[2] ?? 1;
}
