import { spawn } from 'child_process';
import { once } from 'events';
import { join } from 'path';

import type { Locator } from '@playwright/test';

import { seriousFaults } from '../support/axe';
import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { REPOSITORY } from '../support/process';
import { shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

test.use({ keepsTab: true });

const SECRET = 'hush-by-hand-0123456789';

function signInServer(...args: string[]) {
  return spawn(
    join(REPOSITORY, '.venv', 'bin', 'python'),
    ['-m', 'tests.support.mcp.oauth_server', ...args],
    { cwd: REPOSITORY, stdio: ['pipe', 'pipe', 'inherit'] }
  );
}

/** Fill in the form for a server, which prints its address, in the panel. */
async function describeServer(
  tab: LabPage,
  remote: ReturnType<typeof signInServer>
): Promise<Locator> {
  const [line] = (await once(remote.stdout, 'data')) as [Buffer];
  await openWork(tab, 'a = 1');
  await tab.panelWidth(300);
  await tab.panel.send('/mcp');
  const card = tab.panel.root.getByTestId('da-mcp');
  await card.getByTestId('da-mcp-add').click();
  await card.getByTestId('da-mcp-name').fill('remote');
  await card.getByTestId('da-mcp-is-url').check();
  await card.getByTestId('da-mcp-place').fill(line.toString().trim());
  return card;
}

test('a server that wants a sign-in gets it in a tab of its own', async ({
  tab
}) => {
  const { page } = tab;
  const remote = signInServer();
  try {
    const card = await describeServer(tab, remote);
    await card.getByTestId('da-mcp-save').click();
    const row = card.locator('[data-server="remote"]');
    await expect(row.getByTestId('da-mcp-sign-in-begin')).toHaveText('Sign in');
    await shootBoth(tab, 'mcp-sign-in-300');
    expect(await seriousFaults(page, '[data-testid="da-mcp"]')).toEqual([]);
    await row.getByTestId('da-mcp-sign-in-begin').click();
    // No keyring here: the user has to agree to a file.
    await expect(row.getByTestId('da-mcp-sign-in-begin')).toHaveText(
      'Keep it there and sign in'
    );
    await shootBoth(tab, 'mcp-sign-in-file-300');
    const opened = page.waitForEvent('popup');
    await row.getByTestId('da-mcp-sign-in-begin').click();
    const popup = await opened;
    await expect(popup.locator('h1')).toHaveText('You are signed in to remote');
    await popup.close();
    await expect(row).toHaveAttribute('data-state', 'running');
    await expect(row.getByTestId('da-mcp-sign-out')).toBeVisible();
    await shootBoth(tab, 'mcp-signed-in-300');
    await row.getByTestId('da-mcp-sign-out').click();
    await expect(row).toHaveAttribute('data-state', 'stopped');
    await row.getByTestId('da-mcp-remove').click();
    await row.getByTestId('da-mcp-remove').click();
    await expect(row).toHaveCount(0);
  } finally {
    remote.stdin.end();
  }
});

test('a program that was registered by hand signs in with its secret', async ({
  tab
}) => {
  const { page, server } = tab;
  const back = `${server.about.url}datalayer-agent/mcp-sign-in`;
  const remote = signInServer(back);
  try {
    const card = await describeServer(tab, remote);
    await expect(card.getByTestId('da-mcp-form')).toContainText(back);
    await card.getByTestId('da-mcp-client-id').fill('by-hand');
    await shootBoth(tab, 'mcp-client-id-300');
    await card.getByTestId('da-mcp-save').click();
    const row = card.locator('[data-server="remote"]');
    await row.getByTestId('da-mcp-client-secret').fill(SECRET);
    await shootBoth(tab, 'mcp-client-secret-300');
    expect(await seriousFaults(page, '[data-testid="da-mcp"]')).toEqual([]);
    const begin = row.getByTestId('da-mcp-sign-in-begin');
    await begin.click();
    await expect(begin).toHaveText('Keep it there and sign in');
    const opened = page.waitForEvent('popup');
    await begin.click();
    const popup = await opened;
    await expect(popup.locator('h1')).toHaveText('You are signed in to remote');
    await popup.close();
    await expect(row).toHaveAttribute('data-state', 'running');
    expect(await page.content()).not.toContain(SECRET);
    await row.getByTestId('da-mcp-remove').click();
    await row.getByTestId('da-mcp-remove').click();
    await expect(row).toHaveCount(0);
  } finally {
    remote.stdin.end();
  }
});
