import type { NotebookPanel } from '@jupyterlab/notebook';

import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { shootBoth } from '../support/screenshots';

/** An answer with a block for a cell, one for a new cell, one for none and one for a file. */
const ANSWER = [
  'The mean is slow.',
  '```python cell=first\na = 10\nb = 2\nc = 3\nd = 4\ne = 50\n```',
  'Then look at it, below.',
  '```python after=second\nprint(e)\n```',
  'Notes:',
  '```markdown\n## Ends\n```',
  'And in the file:',
  '```python file=FOLDER/util.py\ndef double(x):\n    return 2 * x\n```',
  'This one is for a cell that was deleted.',
  '```python cell=gone\npass\n```',
  'And once more, below.',
  '```python after=second\nprint(a, e)\n```'
].join('\n\n');

const SOURCE = 'a = 1\nb = 2\nc = 3\nd = 4\ne = 5';

test('code of an answer is applied as a diff, inserted and put in place of a cell, by mouse and by keys', async ({
  tab,
  model,
  server
}) => {
  const { page, panel, folder } = tab;
  await server.notebook(`${folder}/code.ipynb`, [
    { source: SOURCE, id: 'first' },
    { source: 'print(a)', id: 'second' }
  ]);
  await server.text(`${folder}/util.py`, 'def double(x):\n    return x + x\n');
  await tab.load('code.ipynb');
  const notebook = tab.notebook('code.ipynb');
  await notebook.ready();
  await panel.attach('code.ipynb');
  await panel.mode('ask');
  await model.script({ say: ANSWER.replace('FOLDER', folder) });
  await panel.ask('What is slow?');
  expect((await model.request(1)).text).toContain('python cell=<cellId>');

  const rows = panel.root.locator('.da-code-row');
  await expect(rows.locator('.da-code-title')).toHaveText([
    'Cell 1',
    'Below cell 2',
    '',
    'util.py',
    'Deleted cell',
    'Below cell 2'
  ]);
  await expect(
    panel.root.locator('.da-code pre').nth(3).locator('span').first()
  ).toHaveText('def');
  const act = (row: number, name: string | RegExp) =>
    rows.nth(row).getByRole('button', { name });
  await page.context().grantPermissions(['clipboard-read']);
  await act(5, 'Copy code').click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
    'print(a, e)'
  );
  for (const width of [300, 400]) {
    await tab.panelWidth(width);
    for (const row of [0, 3]) {
      const [line, code] = await Promise.all([
        rows.nth(row).boundingBox(),
        panel.root.locator('.da-code pre').nth(row).boundingBox()
      ]);
      expect(line!.y).toBeGreaterThanOrEqual(code!.y + code!.height);
      expect(
        await rows
          .nth(row)
          .evaluate(node => node.scrollWidth - node.clientWidth)
      ).toBe(0);
    }
    await shootBoth(tab, `code-actions-${width}`);
  }

  // A diff in the cell's own editor, decided hunk by hunk.
  const chat = new InlineChat(tab);
  await act(0, 'Apply to cell 1 of code.ipynb, as a diff').click();
  await expect(chat.addedLines).toHaveText(['a = 10', 'e = 50']);
  await expect(chat.input).toBeFocused();
  expect((await notebook.sources())[0]).toBe(SOURCE);
  await shootBoth(tab, 'code-actions-applied', 'window');
  await chat.added.nth(1).getByRole('button', { name: 'Accept' }).click();
  await chat.reject.click();
  const applied = SOURCE.replace('e = 5', 'e = 50');
  await expect.poll(async () => (await notebook.sources())[0]).toBe(applied);

  // By keys alone: the line is one stop of Tab, and the arrows go along it.
  await act(1, /^Apply as a new cell below cell 2/).focus();
  await page.keyboard.press('ArrowRight');
  await expect(act(1, 'Insert above cell 2 of code.ipynb')).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await expect(chat.newCells).toContainText('print(e)');
  // Another one for the same place is beside it; the same one again is the same.
  await act(5, /^Apply as a new cell below cell 2/).click();
  await act(1, /^Apply as a new cell below cell 2/).click();
  await expect(chat.newCells).toHaveCount(2);
  await expect(chat.newCells).toContainText(['print(e)', 'print(a, e)']);
  await chat.input.focus();
  await page.keyboard.press('Control+Enter');
  const shown = [applied, 'print(a)', 'print(e)', 'print(a, e)'];
  await expect.poll(() => notebook.sources()).toEqual(shown);

  // What has no target goes to the active cell, and Markdown becomes Markdown.
  await notebook.edit(0);
  await act(2, 'Insert below cell 1 of code.ipynb').focus();
  await page.keyboard.press('Enter');
  await expect
    .poll(() => notebook.sources())
    .toEqual([applied, '## Ends', ...shown.slice(1)]);
  expect((await notebook.content())[1].cell_type).toBe('markdown');
  await expect(act(2, /^Insert below cell 2 of/)).toBeFocused();
  await expect(rows.first()).toContainText('Cell 1');

  // In place of a cell: one step of the notebook's undo.
  await act(0, 'Replace cell 1 of code.ipynb').click();
  await expect
    .poll(async () => (await notebook.sources())[0])
    .toBe('a = 10\nb = 2\nc = 3\nd = 4\ne = 50');
  await notebook.cells.first().locator('.jp-InputPrompt').click();
  await notebook.undo();
  await expect.poll(async () => (await notebook.sources())[0]).toBe(applied);

  // Deleted cell is said to be; the rest is there.
  await expect(
    act(4, 'Apply: The target cell no longer exists.')
  ).toHaveAttribute('aria-disabled', 'true');

  // The next message says what became of the proposals, once.
  await model.script({ say: 'Good.' }, { say: 'Yes.' });
  await panel.ask('And now?', 2);
  expect((await model.request(2)).text).toContain(
    'What the user did with your proposals since: cell id=first: accepted in part; new cell after id=second: accepted; new cell after id=second: accepted; cell id=first: accepted.'
  );
  await panel.ask('Really?', 3);
  // It stays where it was sent, and is not said again.
  const { text } = await model.request(3);
  expect(text.split('with your proposals')).toHaveLength(2);

  // The file is opened, with the diff in its editor. No notebook is active then.
  await act(3, 'Apply to util.py, as a diff').click();
  await expect(chat.addedLines.last()).toHaveText('    return 2 * x');
  await expect(act(2, /^Insert below: No active notebook/)).toHaveAttribute(
    'aria-disabled',
    'true'
  );
  await page.keyboard.press('Control+Enter');
  await expect(
    page.locator('.jp-FileEditor:visible .cm-content')
  ).toContainText('return 2 * x');
  await expect(chat.root).toHaveCount(0);

  // Nothing is changed in a notebook that can only be read.
  await tab.open('code.ipynb');
  await page.evaluate(() => {
    const { context } = window.jupyterapp.shell.currentWidget as NotebookPanel;
    context.model.readOnly = true;
  });
  await notebook.cells.first().locator('.jp-InputPrompt').click();
  await act(0, 'Apply').hover();
  for (const name of ['Apply', 'Insert below', 'Replace']) {
    await expect(
      act(0, new RegExp(`^${name} .*: code.ipynb is read-only.`))
    ).toHaveAttribute('aria-disabled', 'true');
  }
});
