import { join } from 'path';

import { seriousFaults } from '../support/axe';
import { expect, test } from '../support/fixtures';
import { REPOSITORY } from '../support/process';
import { shootBoth, useTheme } from '../support/screenshots';
import { openWork } from '../support/work';

test.use({ keepsTab: true });

const FIXTURE = join(REPOSITORY, 'tests', 'support', 'mcp', 'fixture.py');
const SECRET = 'hush-0123456789';

test('an MCP server is added, tried, trusted and removed, and its tools ask until then', async ({
  tab,
  model
}) => {
  const { panel, page, server } = tab;
  const folder = { command: 'python3', args: ['stranger.py', '--all'] };
  await openWork(tab, 'a = 1');
  await server.text(
    'mcp.json',
    JSON.stringify({ mcpServers: { stranger: folder } })
  );
  await tab.panelWidth(300);
  await panel.send('/mcp');
  const card = panel.root.getByTestId('da-mcp');
  try {
    // The folder's file starts nothing by itself.
    await expect(card.getByTestId('da-mcp-folder')).toContainText(
      'python3 stranger.py --all'
    );
    await expect(card.getByTestId('da-mcp-server')).toHaveCount(0);
    await shootBoth(tab, 'mcp-folder-300');

    // With the keyboard alone: name, kind, command, a variable with its value.
    await card.getByTestId('da-mcp-add').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('fix');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type(`python3 -S "${FIXTURE}" plain`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await card.getByTestId('da-mcp-pair-name').fill('FIXTURE_TOKEN');
    await card.getByTestId('da-mcp-pair-value').fill(SECRET);
    await card.getByTestId('da-mcp-test').click();
    await expect(card.getByTestId('da-mcp-result')).toHaveText(
      'Works: 4 tools (fixture 1)'
    );
    await shootBoth(tab, 'mcp-form-300');
    await card.getByTestId('da-mcp-save').click();
    const fix = card.locator('[data-server="fix"]');
    await expect(fix).toHaveAttribute('data-state', 'running');
    await fix.getByTestId('da-mcp-tools').locator('summary').click();
    await fix.getByTestId('da-mcp-log').click();
    await expect(fix.getByTestId('da-mcp-lines')).toContainText('Connected');
    await shootBoth(tab, 'mcp-server-300');
    const faults = await seriousFaults(page, '[data-testid="da-mcp"]');
    await useTheme(tab, 'dark');
    faults.push(...(await seriousFaults(page, '[data-testid="da-mcp"]')));
    await useTheme(tab, 'light');
    expect(faults).toEqual([]);
    expect(await page.content()).not.toContain(SECRET);

    // Its tool asks, and what it answers is one line.
    const call = { call: 'fix__echo', arguments: { text: 'From outside' } };
    await model.script(call, { say: 'It said so.' });
    await panel.send('Use the fixture');
    await expect(panel.waiting).toContainText('Use Echo of fix?', {
      ignoreCase: true
    });
    await expect(panel.waiting).toContainText('From outside');
    await shootBoth(tab, 'mcp-approval-300');
    await panel.approve();
    await panel.ended();
    await expect(panel.toolCalls.last()).toContainText('Used echo of fix');

    await panel.send('/mcp');
    await fix.getByTestId('da-mcp-tools').locator('summary').click();
    await fix
      .locator('[data-tool="echo"]')
      .getByTestId('da-mcp-trust')
      .selectOption('read');
    await expect(fix.getByTestId('da-mcp-tools')).toContainText('1 trusted');
    await panel.mode('ask');
    await model.script(call, { say: 'Again.' });
    await panel.ask('Once more', 2);
    await expect(panel.toolCalls.last()).toHaveAttribute('data-status', 'ok');
    await shootBoth(tab, 'mcp-trusted-300');

    await panel.send('/mcp');
    await fix.getByTestId('da-mcp-remove').click();
    await fix.getByTestId('da-mcp-remove').click();
    await expect(fix).toHaveCount(0);
    await card.getByTestId('da-mcp-allow').click();
    const stranger = card.locator('[data-server="stranger"]');
    await stranger.getByTestId('da-mcp-start').click();
    await expect(stranger.getByTestId('da-mcp-problem')).toContainText(
      'stranger.py'
    );
    await shootBoth(tab, 'mcp-failed-300');
    await card.getByTestId('da-mcp-forbid').click();
    await expect(stranger).toHaveCount(0);
  } finally {
    await server.api('api/contents/mcp.json', 'DELETE');
  }
});

test('an MCP server asks the user by a form, whose answer it gets', async ({
  tab,
  model
}) => {
  const { panel, page, server } = tab;
  await openWork(tab, 'a = 1');
  await tab.panelWidth(300);
  const servers = 'mcp-servers/fix';
  await server.decide(servers, 'PUT', {
    command: 'python3',
    args: ['-S', FIXTURE, 'bad']
  });
  try {
    await server.decide(servers, 'PATCH', { trust: 'call' });
    const call = { call: 'fix__asks', arguments: {} };
    await model.script(call, { say: 'Seat booked.' });
    await panel.send('Book a seat');
    const form = panel.root.getByTestId('da-input-form');
    // Its text is not rendered.
    await expect(form).toContainText('The flight is <b>full</b>.');
    await expect(form).toContainText('Enter no passwords');
    await expect(form.getByLabel('Name')).toBeVisible();
    await shootBoth(tab, 'mcp-input-300');
    expect(await seriousFaults(page, '[data-testid="da-input-form"]')).toEqual(
      []
    );

    // What does not fit is not sent.
    await form.getByRole('button', { name: 'Send to fix' }).click();
    await expect(form.getByRole('alert').first()).toBeVisible();
    await form.getByLabel('Name').fill('Ada');
    await form.getByLabel('Age').fill('36');
    await form.getByLabel('class').selectOption({ label: 'Business' });
    await form.getByRole('button', { name: 'Send to fix' }).click();
    await panel.ended();
    await expect(form).toHaveCount(0);
    await expect(panel.root).toContainText(
      'You answered: a question of the MCP server fix'
    );
    const { lastOutput } = (await model.requests())[1];
    for (const part of ['accept', 'Ada', '36', 'window']) {
      expect(lastOutput).toContain(part);
    }

    await model.script(call, { say: 'Never mind.' });
    await panel.send('Another one');
    await form.getByRole('button', { name: 'Decline' }).click();
    await panel.ended(2);
    expect((await model.requests())[3].lastOutput).toContain('decline');

    // Stop cancels, and the form is gone.
    await model.script(call);
    await panel.send('And another');
    await expect(form).toBeVisible();
    await panel.stopButton.click();
    await panel.ended(3, 'aborted');
    await expect(form).toHaveCount(0);
  } finally {
    await server.api(`datalayer-agent/${servers}`, 'DELETE');
  }
});
