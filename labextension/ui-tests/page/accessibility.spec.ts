import { faintCode, seriousFaults } from '../support/axe';
import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { LabPage } from '../support/lab';
import { addCell } from '../support/scripts';
import { useTheme } from '../support/screenshots';
import { openWork } from '../support/work';

const ANSWER =
  'See [the data](cars.csv) and `cars`:\n\n```python cell=cell-0\na = 10\n```\n\n' +
  '| name | mpg |\n| --- | --- |\n| Ford | 18 |\n';

/** Code on backgrounds of ours. */
const CODE = [
  '.da-added .da-added-line span',
  '.da-new-cell .da-added-line span',
  '.da-removed-line span',
  '.da-diff-tab td span:not(.da-sign)'
];

/** What axe finds in both themes within these elements, the current one first: a change takes a second. */
async function faults(
  tab: LabPage,
  where: string,
  ...within: string[]
): Promise<string[]> {
  const marked = CODE.filter(each => within.some(w => each.startsWith(w)));
  const found = async () =>
    [
      ...(await seriousFaults(tab.page, ...within)),
      ...(marked.length ? await faintCode(tab.page, ...marked) : [])
    ].map(line => `${where}: ${line}`);
  const before = await found();
  const isLight = await tab.page
    .locator('body')
    .getAttribute('data-jp-theme-light');
  await useTheme(tab, isLight === 'true' ? 'dark' : 'light');
  return [...before, ...(await found())];
}

test('axe finds nothing serious in the panel and its conversation', async ({
  tab,
  model
}) => {
  const { panel } = tab;
  const found: string[] = [];
  await openWork(tab, 'a = 1\nb = 2', 'c = 3');
  // It does see what would be wrong.
  const name = panel.attachments.first().locator('.da-chip-name');
  await name.evaluate(node => (node.style.cssText = 'color: #777'));
  expect((await faults(tab, 'planted', '.da-panel')).join()).toContain(
    'da-chip-name'
  );
  await name.evaluate(node => node.removeAttribute('style'));
  found.push(...(await faults(tab, 'empty', '.da-panel')));

  // A conversation: text, code, a table, tool calls, changes, an error, and something that waits.
  await model.script(
    { call: 'getNotebookCells' },
    addCell('1 + 1', { run: true }),
    addCell('1 / 0', { run: true }),
    { say: ANSWER },
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'I leave it.' }
  );
  await panel.ask('Look at it with #runNotebookCells');
  await panel.toolCalls.last().getByRole('button').first().click();
  found.push(...(await faults(tab, 'conversation', '.da-panel')));
  await panel.send('Remove the second cell');
  await expect(panel.root.getByTestId('da-approve')).toBeVisible();
  found.push(...(await faults(tab, 'approval', '.da-waiting')));
  await panel.root.getByTestId('da-approve').hover();
  found.push(...(await faults(tab, 'at the mouse', '.da-waiting')));
  await panel.root.getByTestId('da-deny').click();
  await panel.ended(2);

  expect([...new Set(found)]).toEqual([]);
});

test('axe finds nothing serious in the menus and the completions of the panel', async ({
  tab,
  model
}) => {
  const { page, panel } = tab;
  const found: string[] = [];
  await openWork(tab, 'a = 1\nb = 2', 'c = 3');
  await model.script(addCell('1 + 1'), { say: ANSWER });
  await panel.ask('Add a cell');

  // Every menu and window of the panel, one after the other
  // (that of a turn is JupyterLab's own).
  const openers = panel.root.locator(
    '[aria-haspopup]:visible:not([data-testid="da-turn-menu"])'
  );
  for (const theme of ['dark', 'light'] as const) {
    await useTheme(tab, theme);
    const look = async (where: string, within: string) => {
      const faults = await seriousFaults(page, within);
      found.push(...faults.map(line => `${where}, ${theme}: ${line}`));
    };
    for (let index = 0; index < (await openers.count()); index++) {
      const opener = openers.nth(index);
      const title = await opener.evaluate(
        node => node.getAttribute('aria-label') ?? node.textContent
      );
      await opener.focus();
      await page.keyboard.press('Enter');
      await expect(opener).toHaveAttribute('aria-expanded', 'true');
      await look(title ?? '?', '.da-popup');
      await page.keyboard.press('Escape');
    }
    await panel.input.focus();
    await page.keyboard.type('@');
    await expect(
      page.getByRole('listbox').getByRole('option').first()
    ).toBeVisible();
    await look('completion', '.MuiAutocomplete-popper');
    await panel.input.fill('');
  }
  expect([...new Set(found)]).toEqual([]);
});

test('axe finds nothing serious in the inline chat, its diff and the diff of a turn', async ({
  tab,
  model
}) => {
  const { page, panel } = tab;
  const found: string[] = [];
  await openWork(tab, 'a = 1\nb = 2', 'c = 3');
  await model.script(addCell('1 + 1', { run: true }), { say: 'Added.' });
  await panel.ask('Add a cell');

  const chat = new InlineChat(tab);
  await model.script({
    say: `Twice that.\n\n\`\`\`python cell=cell-0\na = 2\nb = 2\n\`\`\`\n\n\`\`\`python after=cell-0\nprint(a)\n\`\`\``
  });
  await tab.notebook('work.ipynb').edit(0);
  await chat.open();
  found.push(...(await faults(tab, 'inline chat', '.da-inline')));
  await chat.input.focus();
  await chat.ask('Twice');
  await expect(chat.accept).toBeVisible();
  await expect(chat.newCells).toHaveCount(1);
  const parts = ['.da-inline', '.da-added', '.da-removed-line', '.da-new-cell'];
  found.push(...(await faults(tab, 'diff', ...parts)));
  await chat.accept.hover();
  found.push(...(await faults(tab, 'at the mouse', '.da-inline')));
  await chat.input.focus();
  await page.keyboard.press('Escape');
  await panel.root
    .getByTestId('da-changes')
    .getByRole('button', { name: 'Diff' })
    .click();
  await expect(
    page.locator('.da-diff-tab td span[class]').nth(2)
  ).toBeVisible();
  found.push(...(await faults(tab, 'diff tab', '.da-diff-tab')));
  expect([...new Set(found)]).toEqual([]);
  await useTheme(tab, 'light');
});
