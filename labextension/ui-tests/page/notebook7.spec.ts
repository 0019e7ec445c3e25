import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { shootBoth } from '../support/screenshots';

test.use({ keepsTab: false });

const SOURCE = 'a = 1\nb = 2';

test('Notebook 7 has the inline chat with its diff, the panel, and what its answers offer', async ({
  tab,
  model,
  server
}) => {
  const { page, panel, folder } = tab;
  await server.notebook(`${folder}/seven.ipynb`, [
    { source: SOURCE, id: 'first' },
    { source: 'print(a)', id: 'second' }
  ]);
  await tab.loadNotebook7('seven.ipynb');
  const notebook = tab.notebook('seven.ipynb');
  await notebook.kernelReady();

  // In a cell: a diff, refined, accepted and run by keys.
  const chat = new InlineChat(tab);
  await model.script(
    { say: 'Ten.\n\n```python cell=first\na = 10\nb = 2\n```' },
    {
      say: '```python cell=first\na = 100\nb = 2\n```\n\n```python after=first\nprint(b)\n```'
    }
  );
  await notebook.edit(0);
  await chat.open();
  await chat.ask('Ten times');
  await expect(chat.addedLines).toHaveText(['a = 10']);
  await expect(chat.accept).toBeVisible();
  await chat.ask('A hundred times, and show b');
  await expect(chat.newCells).toHaveCount(1);
  await expect(chat.accept).toBeVisible();
  expect((await notebook.sources())[0]).toBe(SOURCE);
  await shootBoth(tab, 'notebook7-inline', 'window');
  await chat.input.focus();
  await page.keyboard.press('Control+Shift+Enter');
  await expect
    .poll(() => notebook.sources())
    .toEqual(['a = 100\nb = 2', 'print(b)', 'print(a)']);
  await expect(notebook.output(1)).toHaveText('2');

  // The panel, with tools on this notebook and the actions on an answer's code.
  await page.evaluate(() =>
    window.jupyterapp.commands.execute('datalayer-agent:open')
  );
  await expect(panel.input).toBeFocused();
  await panel.attach('seven.ipynb');
  await panel.mode('ask');
  await model.script(
    { call: 'getNotebookCells' },
    { say: '```python cell=second\nprint(a, b)\n```' }
  );
  await panel.ask('What is in it?');
  await expect(panel.toolCalls.first()).toContainText('Read 3 cells');
  await panel.root.getByTestId('da-code-apply').click();
  await expect(chat.addedLines).toHaveText(['print(a, b)']);
  await shootBoth(tab, 'notebook7-panel', 'window');
  await page.keyboard.press('Control+Enter');
  await expect
    .poll(async () => (await notebook.sources())[2])
    .toBe('print(a, b)');

  // A reference that is typed whole; and what the agent changes is marked, kept and undone.
  await panel.mode('agent');
  await model.script(
    { call: 'getNotebookCells' },
    {
      call: 'updateNotebookCell',
      arguments: { cellId: 'second', content: 'print(b)' }
    },
    { say: 'Changed.' }
  );
  const before = (await model.requests()).length;
  await panel.ask('Shorten @cell:3', 2);
  expect((await model.requests())[before].text).toContain('Attached cells of');
  const bar = page.getByTestId('da-nb-changes');
  await expect(bar).toContainText('1 cell changed');
  await expect(
    notebook.cells.nth(2).getByRole('img', { name: 'Changed by the agent' })
  ).toBeVisible();
  await shootBoth(tab, 'notebook7-marks', 'window');
  await bar.getByTestId('da-nb-undo').click();
  await expect(bar).toHaveCount(0);
  expect((await notebook.sources())[2]).toBe('print(a, b)');
});
