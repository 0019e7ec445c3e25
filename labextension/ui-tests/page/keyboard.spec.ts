import { expect, test } from '../support/fixtures';
import { addCell } from '../support/scripts';

test('everything in the panel has a name and is reached by the keyboard alone', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await model.script(
    addCell('1 + 1', { run: true }),
    { call: 'askUser', arguments: { question: 'Which?', options: ['This'] } },
    { say: 'Done.' }
  );
  // From the notebook to the panel, attach and choose the mode, all by keys.
  await page.evaluate(async () => {
    await window.jupyterapp.commands.execute('datalayer-agent:open');
  });
  await expect(panel.input).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(panel.root.getByTestId('da-mode-select')).toBeFocused();
  await page.keyboard.press('A');
  await page.keyboard.press('g');
  await page.keyboard.press('Tab');
  await expect(panel.root.getByTestId('da-model-select')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(panel.root.getByTestId('da-attach')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(panel.root.getByRole('menuitem').first()).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(panel.attachments).toContainText('cars.ipynb');
  await expect(panel.root.getByTestId('da-attach')).toBeFocused();
  await panel.root.getByTestId('da-mode-select').selectOption('agent');
  await panel.input.focus();
  await page.keyboard.type('Go');
  await page.keyboard.press('Enter');
  await expect(panel.waiting).toContainText('Which?');

  const snapshot = await panel.root.ariaSnapshot();
  const nameless = snapshot
    .split('\n')
    .filter(line =>
      /- (button|combobox|textbox|searchbox|menuitem|link)( \[[^\]]*\])*:?$/.test(
        line
      )
    );
  expect(nameless).toEqual([]);

  // From the header through everything to the answer's option.
  await panel.root.getByTestId('da-new-session').focus();
  const option = panel.waiting.getByRole('button', { name: 'This' });
  for (let presses = 0; presses < 20; presses++) {
    await page.keyboard.press('Tab');
    if (await option.evaluate(node => node === document.activeElement)) {
      break;
    }
  }
  await expect(option).toBeFocused();
  await page.keyboard.press('Enter');
  await panel.ended();

  // A tool call opens to what it did.
  const line = panel.toolCalls.first().getByRole('button').first();
  await line.focus();
  await page.keyboard.press('Enter');
  await expect(panel.toolCalls.first()).toContainText('1 + 1');
  await expect(line).toHaveAttribute('aria-expanded', 'true');

  // Escape closes what is open before it stops anything.
  const sessions = panel.root.getByTestId('da-session-list');
  await sessions.getByRole('button', { name: 'Sessions' }).press('Enter');
  await expect(sessions.getByRole('searchbox')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(sessions.getByRole('dialog')).toHaveCount(0);
});

test('at 300 px nothing needs to be scrolled sideways', async ({
  lab,
  model
}) => {
  const { panel } = lab;
  await model.script(
    addCell(
      'a_rather_long_name_without_any_blank = "x" * 400\nprint(a_rather_long_name_without_any_blank)',
      {
        run: true
      }
    ),
    {
      say: `A long word ${'w'.repeat(120)}, a path /a/very/long/path/${'p'.repeat(80)}.csv and code:\n\n\`\`\`python\n${'x'.repeat(200)} = 1\n\`\`\`\n\n| ${'column | '.repeat(12)}\n| ${'- | '.repeat(12)}\n| ${'value | '.repeat(12)}`
    }
  );
  await lab.panelWidth(300);
  await panel.attach('cars.ipynb');
  await panel.mode('agent');
  await panel.ask('Do it');
  // What is opened opens under its line, which stays where it was clicked.
  const line = panel.toolCalls.first().getByRole('button').first();
  await line.click();
  await expect(panel.toolCalls.first()).toContainText('Output');
  await expect(line).toBeInViewport({ ratio: 1 });
  await panel.changes.getByRole('button', { name: 'View' }).click();
  const wide = await panel.root.evaluate(root => {
    const right = root.getBoundingClientRect().right;
    const scrolls = (node: Element | null): boolean =>
      !!node &&
      node !== root &&
      (['auto', 'scroll'].includes(getComputedStyle(node).overflowX) ||
        scrolls(node.parentElement));
    return [root, ...root.querySelectorAll('*')]
      .filter(node => {
        // Code and tables scroll by themselves; the panel does not.
        const isMain = node.matches(
          '.da-panel, .da-view, .da-root, .da-scroller'
        );
        return isMain
          ? node.scrollWidth > node.clientWidth
          : !node.closest('.da-hidden') &&
              node.getBoundingClientRect().right > right + 1 &&
              !scrolls(node.parentElement);
      })
      .map(node => `${node.tagName}.${node.className}`);
  });
  expect(wide).toEqual([]);
  for (const id of [
    'da-input',
    'da-mode-select',
    'da-attach',
    'da-new-session'
  ]) {
    await expect(panel.root.getByTestId(id)).toBeInViewport({ ratio: 1 });
  }
});
