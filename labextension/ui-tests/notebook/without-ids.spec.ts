import { expect, test } from '../support/fixtures';

test.use({ keepsTab: true });

const CODE = {
  cell_type: 'code',
  metadata: {},
  outputs: [],
  execution_count: null
};

test('changes in a closed notebook without ids are marked when it is opened, lead to their cells, and are undone', async ({
  tab,
  model,
  server
}) => {
  const name = 'old.ipynb';
  const path = `${tab.folder}/${name}`;
  const { page } = tab;
  const before = ['x = 1', 'same = 0', 'y = 2', 'same = 0'];
  await server.text(
    path,
    JSON.stringify({
      cells: before.map(source => ({ ...CODE, source })),
      metadata: { kernelspec: { name: 'python3', display_name: 'Python 3' } },
      nbformat: 4,
      nbformat_minor: 4
    })
  );
  await model.script(
    {
      calls: [
        {
          call: 'addNotebookCell',
          arguments: { type: 'code', content: 'same = 0', position: 'end' }
        },
        {
          call: 'addNotebookCell',
          arguments: { type: 'code', content: 'new = 1', position: 'start' }
        }
      ]
    },
    { say: 'Done.' }
  );
  await server.api('datalayer-agent/chat', 'POST', {
    message: 'Add two',
    mode: 'agent',
    attachments: [{ kind: 'notebook', path }],
    activeNotebook: path
  });

  await tab.load(name);
  const notebook = tab.notebook(name);
  await notebook.ready();
  expect(await notebook.sources()).toEqual(['new = 1', ...before, 'same = 0']);
  const bar = page.getByTestId('da-nb-changes');
  await expect(bar).toContainText('2 cells changed');
  // Of three cells with the same text the last is the one that was added.
  const marked = () =>
    notebook.cells.evaluateAll(cells =>
      cells.map(cell => cell.querySelectorAll('.da-mark').length)
    );
  await expect.poll(marked).toEqual([1, 0, 0, 0, 0, 1]);

  await bar.getByRole('button', { name: 'Next changed cell' }).click();
  await expect(notebook.cells.nth(5)).toHaveClass(/jp-mod-active/);

  // A cell that the user changes stays marked, and so do both when the file is loaded again.
  await notebook.type(0, '  # mine');
  expect(await marked()).toEqual([1, 0, 0, 0, 0, 1]);
  await page.keyboard.press('Control+z');
  await expect
    .poll(() => notebook.sources())
    .toEqual(['new = 1', ...before, 'same = 0']);
  await page.evaluate(() =>
    (
      window.jupyterapp.shell.currentWidget as unknown as {
        context: { revert(): Promise<void> };
      }
    ).context.revert()
  );
  await expect.poll(marked).toEqual([1, 0, 0, 0, 0, 1]);

  // The diff has the numbers of today, too.
  await page.evaluate(() =>
    window.jupyterapp.commands.execute('datalayer-agent:show-diff')
  );
  const diff = page.locator('.da-diff-cell');
  await expect(diff).toHaveCount(2);
  await expect(diff.first()).toContainText('cell 1');
  await expect(diff.last()).toContainText('cell 6');
  await expect(page.getByText('numbered as it was then')).toHaveCount(0);
  await page.evaluate(() => window.jupyterapp.shell.currentWidget!.close());

  await bar.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => notebook.sources()).toEqual(before);
  await expect(bar).toHaveCount(0);
});
