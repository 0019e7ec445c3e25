import { LabPage } from '../support/lab';
import { expect, test } from '../support/fixtures';
import { LabServer } from '../support/server';
import { shootBoth } from '../support/screenshots';

test('the list of models says what each can do and costs, and the effort of reasoning is chosen in it', async ({
  page,
  workerModel
}) => {
  await workerModel.reset();
  const server = await LabServer.start(workerModel.apiBase, {
    DATALAYER_AGENT_MODEL: 'anthropic/claude-sonnet-5-5',
    DATALAYER_AGENT_API_BASE: workerModel.apiBase.replace(/\/v1$/, ''),
    ANTHROPIC_API_KEY: 'sk-test-0123456789abcdef',
    MISTRAL_API_KEY: 'sk-test-0123456789abcdef'
  });
  try {
    await page.setViewportSize({ width: 1100, height: 800 });
    await server.cars('work');
    const lab = new LabPage(page, server, 'work');
    await lab.load('cars.ipynb');
    const { panel } = lab;
    const select = panel.root.getByTestId('da-model-select');
    await select.click();
    const row = panel.root.getByRole('button', { name: /^Claude Sonnet 5.5/ });
    await expect(row).toContainText(
      '1M context · images · reasoning · $2 in, $10 out'
    );
    await expect(row).toHaveAttribute('title', /per million tokens/);
    const effort = panel.root.getByLabel('Reasoning effort');
    await expect(effort.locator('option')).toHaveText([
      'As in settings',
      'Low',
      'Medium',
      'High',
      'Very high',
      'Maximum'
    ]);
    await lab.panelWidth(300);
    await shootBoth(lab, 'models-300');
    await effort.selectOption('high');
    await page.keyboard.press('Escape');
    await workerModel.script({ say: 'One.' }, { say: 'Two.' });
    await panel.ask('First');

    // One that does not reason offers no effort, and is sent none.
    await select.click();
    await panel.root.getByRole('button', { name: /^Mistral Large/ }).click();
    await select.click();
    await expect(effort).toHaveCount(0);
    await page.keyboard.press('Escape');
    const [first] = await workerModel.requests();
    expect(JSON.stringify(first.body)).toContain('"cache_control"');
    expect(JSON.stringify(first.body)).toMatch(/effort|thinking/);
  } finally {
    await server.close();
  }
});
