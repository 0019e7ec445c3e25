import { expect, test } from '../support/fixtures';
import { openWork } from '../support/work';

test('a command that is typed whole takes one Enter, however fast it is typed', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  const menu = page.getByRole('listbox');
  await panel.input.focus();
  await page.keyboard.type('/usage', { delay: 30 });
  await expect(menu.getByRole('option')).toHaveText(/\/usage/);
  await page.keyboard.press('Enter');
  await expect(panel.root.getByTestId('da-usage')).toBeVisible();
  await expect(panel.input).toHaveValue('');
  await expect(menu).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(panel.input).toBeFocused();
  await page.keyboard.type('/usage');
  await panel.input.press('Enter');
  await expect(panel.root.getByTestId('da-usage')).toBeVisible();
  await expect(panel.input).toHaveValue('');
  await panel.input.fill('/clear all');
  await panel.input.press('Enter');
  await expect(panel.root).toContainText(
    'Not sent: /clear does not take this argument.'
  );
  await expect(panel.input).toHaveValue('/clear all');
  await expect(panel.turns).toHaveCount(0);
  expect(await model.requests()).toHaveLength(0);
  await panel.input.fill('');
  // Half of it is completed by the first Enter, and done by the second.
  await page.keyboard.type('/ne', { delay: 30 });
  await expect(menu.getByRole('option')).toHaveText(/\/new/);
  await page.keyboard.press('Enter');
  await expect(panel.input).toHaveValue('/new');
});

test('a completion that is typed whole is sent by Enter, menu or not', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await model.script({ say: 'I did.' });
  await panel.input.focus();
  await page.keyboard.type('Use #getNotebookCells', { delay: 20 });
  await expect(
    page.getByRole('listbox').getByRole('option').first()
  ).toContainText('Read cells · needs an attached, active notebook');
  await page.keyboard.press('Enter');
  await panel.ended();
  await expect(panel.messages('user')).toHaveText('Use #getNotebookCells');
  await expect(page.getByRole('listbox')).toHaveCount(0);
});

test('what is open over the panel closes when a message is sent', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  const options = page.getByRole('listbox').getByRole('option');
  await model.script({ say: 'Seen.' });
  await panel.input.fill('/workflows');
  await panel.input.press('Enter');
  const list = panel.root.getByTestId('da-workflows');
  await expect(list).toBeVisible();
  await panel.input.pressSequentially('Look at @car');
  await expect(options.first()).toBeVisible();
  await panel.sendButton.click();
  await panel.ended();
  await expect(panel.input).toHaveValue('');
  await expect(options).toHaveCount(0);
  await expect(list).toHaveCount(0);
});

test('Esc closes the menu, then leaves what is written, and stops from the empty input', async ({
  tab,
  model
}) => {
  await openWork(tab, 'a = 1', 'b = 2');
  const { page, panel } = tab;
  await model.script(
    { call: 'getNotebookCells' },
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } }
  );
  await panel.send('Remove the second cell');
  await expect(panel.waiting).toBeVisible();
  await panel.input.focus();
  await page.keyboard.type('Use #get', { delay: 20 });
  await expect(
    page.getByRole('listbox').getByRole('option').first()
  ).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('listbox')).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(panel.input).toHaveValue('Use #get');
  await expect(panel.waiting).toBeVisible();
  await expect(panel.turns).toHaveAttribute('data-status', 'running');
  await panel.input.fill('');
  await page.keyboard.press('Escape');
  await panel.ended(1, 'aborted');
  // It is said once that it was stopped, after what was done.
  await expect(panel.root.locator('.da-stopped')).toHaveText(
    /^Stopped\. No changes made\./
  );
  const text = await panel.turns.innerText();
  expect(text.match(/stopped/gi)).toHaveLength(1);
  expect(text).toContain('Remove cell 2: not done');
});

test('what is being written survives a reload, and is gone when it was sent', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await panel.input.fill('Half a sent');
  await page.reload();
  await lab.shown();
  await expect(panel.input).toHaveValue('Half a sent');
  await model.script({ say: 'Yes.' });
  await panel.ask('Half a sentence');
  await panel.input.fill('The next one');
  await page.reload();
  await lab.shown();
  await expect(panel.input).toHaveValue('The next one');
  await panel.input.fill('');
  await page.reload();
  await lab.shown();
  await expect(panel.answers).toHaveText('Yes.');
  await expect(panel.input).toHaveValue('');
});
