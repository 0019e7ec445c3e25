import { LabPage } from '../support/lab';
import { expect, test } from '../support/fixtures';
import { LabServer } from '../support/server';
import { shootBoth } from '../support/screenshots';

test('settings in JupyterLab hold for the next message, locked ones are shown so, and usage is counted', async ({
  page,
  workerModel
}) => {
  await workerModel.reset();
  const server = await LabServer.start(workerModel.apiBase, {
    DATALAYER_AGENT_LOCKED: '["model", "approval_policy"]',
    DATALAYER_AGENT_TEMPERATURE: '0.5'
  });
  try {
    await page.setViewportSize({ width: 1400, height: 900 });
    await server.cars('work');
    const lab = new LabPage(page, server, 'work');
    await lab.load('cars.ipynb');
    const { panel } = lab;
    await workerModel.script({ say: 'One.' }, { say: 'Two.' });
    await panel.ask('First');

    await panel.root.getByTestId('da-model-select').click();
    await expect(panel.root).toContainText(
      'The model is set by the server administrator.'
    );
    await page.keyboard.press('Escape');

    await panel.root.getByRole('button', { name: 'Settings' }).click();
    const form = page.locator('.jp-SettingsForm').first();
    const field = (name: string) => form.locator(`[id$="_${name}"]`);
    await expect(form).toContainText('Locked by the administrator');
    await expect(field('model')).toHaveValue('openai/scripted');
    await expect(field('model')).toHaveAttribute('readonly', '');
    await expect(field('approvalPolicy')).toBeDisabled();
    await expect(field('temperature')).toHaveValue('0.5');
    await shootBoth(lab, 'settings', 'window');
    // What is set up on pages of the panel is reached from here.
    await form.getByRole('button', { name: 'MCP servers' }).click();
    await expect(panel.root.getByTestId('da-mcp')).toBeVisible();
    await form.getByRole('button', { name: 'Connect a model' }).click();
    await expect(panel.root.getByTestId('da-connect')).toBeVisible();
    await field('temperature').fill('1.25');
    await expect
      .poll(async () => {
        const { values } = await server.api<{
          values: { name: string; value: unknown; source: string }[];
        }>('datalayer-agent/config');
        return values.find(({ name }) => name === 'temperature');
      })
      .toMatchObject({ value: 1.25, source: 'user' });
    // JupyterLab's editor saves all that it shows; the page takes out what the user did not set.
    await expect
      .poll(async () => {
        const { settings } = await server.api<{ settings: object }>(
          'lab/api/settings/jupyter-datalayer-agent:settings'
        );
        return settings;
      })
      .toEqual({ temperature: 1.25 });
    await panel.ask('Second', 2);
    const sent = await workerModel.requests();
    expect(sent.map(({ body }) => body.temperature)).toEqual([0.5, 1.25]);

    await panel.input.focus();
    await page.keyboard.type('/usage');
    await page.keyboard.press('Enter');
    const usage = panel.root.getByTestId('da-usage');
    await expect(usage.locator('tbody tr')).toHaveCount(1);
    for (const by of ['model', 'session', 'day']) {
      await usage.getByLabel('Group by').selectOption(by);
      await expect(usage.locator('thead th').first()).toHaveText(
        new RegExp(by, 'i')
      );
    }
    for (const width of [400, 300]) {
      await lab.panelWidth(width);
      await shootBoth(lab, `usage-${width}`);
    }
  } finally {
    await server.close();
  }
});

test('a looser setting that a program wrote into the file is asked about, and holds when it is confirmed', async ({
  page,
  workerModel
}) => {
  const server = await LabServer.start(workerModel.apiBase, {});
  const id = 'jupyter-datalayer-agent:settings';
  const policy = async () => {
    const { values } = await server.api<{
      values: { name: string; value: unknown }[];
    }>('datalayer-agent/config');
    return values.find(({ name }) => name === 'approval_policy')?.value;
  };
  // With the token alone, by the route that JupyterLab's own editor uses.
  const route = `lab/api/settings/${id}`;
  const write = () =>
    server.api(route, 'PUT', { raw: '{"approvalPolicy": "never"}' });
  const written = async () =>
    (await server.api<{ settings: object }>(route)).settings;
  try {
    await server.cars('work');
    const lab = new LabPage(page, server, 'work');
    await lab.load('cars.ipynb');
    await lab.panelWidth(260);
    expect(await policy()).toBe('destructive');
    for (const { button, value } of [
      { button: 'Keep destructive', value: 'destructive' },
      { button: 'Change to never', value: 'never' }
    ]) {
      await write();
      expect(await policy()).toBe('destructive');
      await lab.panel.root.getByRole('button', { name: 'Settings' }).click();
      const dialog = page.locator('.jp-Dialog');
      await expect(dialog).toContainText(
        'changes approval_policy from destructive to never'
      );
      await expect(
        dialog.getByRole('button', { name: 'Keep destructive' })
      ).toBeFocused();
      await shootBoth(lab, `looser-setting-${value}`, 'window');
      await dialog.getByRole('button', { name: button }).click();
      await expect(dialog).toHaveCount(0);
      await expect.poll(policy).toBe(value);
      // The answer has reached the file, and the next change is another one.
      await expect
        .poll(written)
        .toEqual(value === 'never' ? { approvalPolicy: value } : {});
    }
  } finally {
    await server.close();
  }
});
