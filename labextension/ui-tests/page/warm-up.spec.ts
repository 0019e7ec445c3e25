import { expect, test } from '../support/fixtures';

test.use({ keepsTab: false });

/** Whether the right area is collapsed in a workspace as JupyterLab saves it. */
function rightCollapsed(workspace: {
  data: { 'layout-restorer:data'?: { right?: { collapsed?: boolean } } };
}): boolean {
  return workspace.data['layout-restorer:data']?.right?.collapsed === true;
}

test('the server hears that the panel is shown, and nothing of the kind from a page that hides it', async ({
  tab
}) => {
  const { page } = tab;
  let sent: string[] = [];
  page.on('websocket', socket =>
    socket.on('framesent', ({ payload }) => sent.push(String(payload)))
  );
  const of = (type: string) =>
    sent.filter(text => text.startsWith(`{"type":"${type}"`)).length;
  await tab.load('cars.ipynb');
  await expect.poll(() => of('panel_shown')).toBe(1);
  // An earlier save may still be on its way: the one that is meant has the area collapsed.
  const saved = page.waitForResponse(
    answer =>
      answer.request().method() === 'PUT' &&
      answer.url().includes('/lab/api/workspaces/') &&
      rightCollapsed(answer.request().postDataJSON())
  );
  await page.evaluate(() =>
    window.jupyterapp.commands.execute('application:toggle-right-area')
  );
  await saved;
  sent = [];
  await page.reload();
  await page.waitForFunction(() => window.jupyterapp !== undefined);
  await page.evaluate(() => window.jupyterapp.restored);
  await expect.poll(() => of('editor_state')).toBeGreaterThan(0);
  expect(of('panel_shown')).toBe(0);
  await page.getByRole('tab', { name: 'Agent' }).click();
  await expect(tab.panel.input).toBeVisible();
  await expect.poll(() => of('panel_shown')).toBe(1);
  expect(of('input_focused')).toBe(0);
});
