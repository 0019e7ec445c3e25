import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { NotebookPage } from '../support/notebook';
import { shoot, shootBoth, useTheme } from '../support/screenshots';
import { openWork } from '../support/work';

const TABLE =
  'import pandas as pd\ncars = pd.DataFrame({"name": ["Ford"] * 3, "mpg": [1, 2, 3]})\ncars';

/** A notebook of which both cells were run by the user. */
async function openRun(tab: LabPage): Promise<NotebookPage> {
  const notebook = await openWork(tab, TABLE, 'total = 42\nprint("crocus")');
  await notebook.kernelReady();
  await tab.page.evaluate(() =>
    window.jupyterapp.commands.execute('notebook:run-all-cells')
  );
  await expect(notebook.output(1)).toContainText('crocus');
  return notebook;
}

test('what is referred to by the keyboard alone is attached and reaches the model', async ({
  tab,
  model
}) => {
  await openRun(tab);
  const { page, panel } = tab;
  const options = page.getByRole('listbox').getByRole('option');
  const complete = async (typed: string, found: string | RegExp) => {
    await page.keyboard.type(typed, { delay: 15 });
    await expect(options.first()).toContainText(found);
    await page.keyboard.press('Tab');
    await expect(options).toHaveCount(0);
  };
  await panel.mode('ask');
  for (const theme of ['dark', 'light'] as const) {
    await useTheme(tab, theme);
    await panel.input.focus();
    await page.keyboard.type('@');
    await expect(options.filter({ hasText: '@cell:2' })).toContainText(
      'total = 42'
    );
    await expect(options.filter({ hasText: '@var:cars' })).toContainText(
      'pandas.DataFrame · 3 × 2'
    );
    await shoot(tab, `references-at-${theme}`, 'window');
    await page.keyboard.press('Backspace');
  }
  await complete('See @cars', /@var:cars/);
  await complete('and @cell:2', 'total = 42');
  await complete('and @output:2', 'of cell 2: total = 42');
  await complete('with #run', /#runNotebookCells.*Agent mode only/);
  await expect(panel.attachments).toContainText([
    'work.ipynb',
    'cars',
    'Cell 2 of work.ipynb',
    'Output 2 of work.ipynb'
  ]);
  // Said before it is sent, with the way out of it.
  const lacks = panel.root.getByTestId('da-lacks');
  await expect(lacks).toContainText('#runNotebookCells: Agent mode only');
  await expect(lacks.getByTestId('da-switch-mode')).toBeVisible();
  for (const width of [300, 400]) {
    await tab.panelWidth(width);
    await shootBoth(tab, `references-composed-${width}`);
  }

  await panel.root.locator('.da-context-size').click();
  const sent = page.getByTestId('da-sent-context');
  for (const title of [
    'Notebook ',
    '1 attached cell of',
    '1 attached output of',
    'Variable cars'
  ]) {
    await expect(
      sent.locator('summary', { hasText: title }).last()
    ).toContainText(/ · \d+ tokens/);
  }
  await sent.locator('summary', { hasText: 'Variable cars' }).last().click();
  await expect(sent).toContainText('cars: pandas.DataFrame, shape 3 x 2');
  await shootBoth(tab, 'references-sent', 'window');
  await page.keyboard.press('Escape');

  await model.script({ say: 'Agent mode can run them.' });
  await panel.input.focus();
  await page.keyboard.press('Enter');
  await panel.ended();
  const request = (await model.requests())[0];
  expect(request.text).toContain('cars: pandas.DataFrame, shape 3 x 2');
  expect(request.text).toContain('its output\n```\ncrocus');
  expect(request.text).toContain('Attached cells of');
  expect(request.text).toContain(
    'The user means these tools: runNotebookCells'
  );
  // The answer says it too, and a key switches.
  const turn = panel.turns.last();
  await expect(turn).toContainText('Switch to Agent mode to use it.');
  for (const width of [300, 400]) {
    await tab.panelWidth(width);
    await shootBoth(tab, `references-answer-${width}`);
  }
  await turn.getByTestId('da-switch-mode').focus();
  await page.keyboard.press('Enter');
  await expect(panel.root.getByTestId('da-mode-select')).toHaveValue('agent');
  await expect(panel.input).toBeFocused();

  // A chip goes by the keyboard.
  await panel.attachments
    .filter({ hasText: 'Output 2' })
    .getByRole('button', { name: /Output 2/ })
    .first()
    .focus();
  await page.keyboard.press('Delete');
  await expect(panel.attachments).toHaveCount(3);

  // Typed whole, it is attached when it is sent; what names nothing is reported.
  await model.script({ say: 'Both.' });
  await panel.input.fill('And @output:9, @none.csv or @cars.csv ');
  await expect(panel.root.getByTestId('da-reference-lacks')).toHaveText(
    'Cannot attach: @output:9 (work.ipynb has 2 cells), @none.csv (file not found), @cars.csv (file not found).'
  );
  await panel.ask('And @cell:1, or @cell:9?', 2);
  await expect(panel.attachments.last()).toContainText('Cell 1 of work.ipynb');
  await expect(panel.root).toContainText(
    'Not attached: @cell:9 (work.ipynb has 2 cells).'
  );
});

test('the paperclip lists cells, variables, tools and commands; a busy kernel says so', async ({
  tab
}) => {
  const notebook = await openRun(tab);
  const { page, panel } = tab;
  const button = panel.root.getByTestId('da-attach');
  const menu = panel.root.getByRole('menu', { name: 'Attach' });
  await panel.mode('ask');
  await tab.panelWidth(300);
  const into = async (list: string) => {
    await button.focus();
    await page.keyboard.press('Enter');
    await panel.root.getByTestId(`da-attach-${list}`).focus();
    await page.keyboard.press('Enter');
  };
  await into('variables');
  await expect(menu.getByRole('menuitem')).toContainText([
    'Variables',
    'totalint · 42',
    'carspandas.DataFrame · 3 × 2'
  ]);
  await shootBoth(tab, 'references-paperclip-300');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(panel.attachments.last()).toHaveText('total');
  await expect(button).toBeFocused();

  await into('tools');
  const tool = menu.getByRole('menuitemcheckbox', { name: '#addNotebookCell' });
  await expect(tool).toContainText('Agent mode only');
  await shootBoth(tab, 'references-tools-300');
  await tool.focus();
  await page.keyboard.press('Enter');
  await expect(panel.attachments.last()).toContainText('#addNotebookCell');
  await expect(panel.root.getByTestId('da-lacks')).toBeVisible();
  await panel.root.getByTestId('da-switch-mode').click();
  await expect(panel.root.getByTestId('da-lacks')).toHaveCount(0);

  await into('commands');
  await menu.getByRole('menuitem', { name: /\/export/ }).focus();
  await page.keyboard.press('Enter');
  await expect(panel.input).toHaveValue('/export ');
  await panel.input.fill('');

  // The user's own cell is not waited for.
  await notebook.editor(1).fill('import time\nwhile True: time.sleep(0.05)');
  await notebook.editor(1).press('Shift+Enter');
  await expect(notebook.prompt(1)).toHaveText('[*]:');
  // The prompt says so before the kernel has begun the cell.
  await notebook.kernelBusy();
  await into('variables');
  await expect(menu).toContainText('The kernel is busy');
  await page.keyboard.press('Escape');
  await page.evaluate(() =>
    window.jupyterapp.commands.execute('notebook:interrupt-kernel')
  );
});

test('a cell and an output that are dragged onto the panel are attached', async ({
  tab
}) => {
  const notebook = await openRun(tab);
  const { page, panel } = tab;
  const to = (await panel.root.boundingBox())!;
  const drag = async (from: { x: number; y: number; width: number }) => {
    await page.mouse.move(from.x + from.width / 2, from.y + 6);
    await page.mouse.down();
    await page.mouse.move(from.x + 60, from.y + 20, { steps: 5 });
    await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, {
      steps: 10
    });
    await page.mouse.up();
  };
  await drag((await notebook.prompt(1).boundingBox())!);
  await expect(panel.attachments.last()).toContainText('Cell 2 of work.ipynb');
  const handle = notebook.cells.nth(1).locator('.jp-OutputArea-promptOverlay');
  await drag((await handle.boundingBox())!);
  await expect(panel.attachments.last()).toContainText(
    'Output 2 of work.ipynb'
  );
  await expect(panel.attachments).toHaveCount(3);
});
