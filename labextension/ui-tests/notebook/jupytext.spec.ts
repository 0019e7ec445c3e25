import { join } from 'path';

import { expect, test } from '../support/fixtures';
import { addCell } from '../support/scripts';

const root = join(__dirname, '../../..');
const folder = join(root, '.venv/programs/jupytext');
const SCRIPT = `# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %%
x = 41

# %%
print(x + 1)
`;

test.use({
  environment: {
    PYTHONPATH: [root, join(root, 'tests/support/without'), folder].join(':'),
    JUPYTER_CONFIG_PATH: join(folder, 'etc/jupyter'),
    JUPYTER_PATH: join(folder, 'share/jupyter')
  }
});

test('a script that is open as a notebook is edited and run there', async ({
  tab,
  model,
  server
}) => {
  const path = `${tab.folder}/j.py`;
  await server.text(path, SCRIPT);
  await tab.load('cars.ipynb');
  await tab.page.evaluate(async path => {
    await window.jupyterapp.commands.execute('docmanager:open', {
      path,
      factory: 'Notebook'
    });
  }, path);
  const notebook = tab.notebook('j.py');
  await notebook.ready();
  await tab.panel.attach('j.py');
  await tab.panel.mode('agent');
  await model.script(
    { call: 'getNotebookCells' },
    addCell('print(6 * 7)', { run: true }),
    { call: 'runNotebookCells', arguments: { all: true } },
    { say: 'Done.' }
  );
  await tab.panel.ask('Add a cell');
  await expect(notebook.cells).toHaveCount(3);
  await expect(notebook.output(2)).toHaveText('42');
  const contents = await server.api<{ content: string }>(
    `api/contents/${path}?type=file&format=text`
  );
  expect(contents.content).toContain('print(6 * 7)');
  expect(contents.content).toContain('x = 41');
  await tab.panel.changes.getByRole('button', { name: 'Diff' }).click();
  const ran = tab.page
    .getByTestId('da-diff-tab')
    .getByRole('region', { name: 'Ran cell 2' });
  await ran.getByText('Outputs').click();
  await expect(ran.getByRole('row').last()).toContainText('42');
});
