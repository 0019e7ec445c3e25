import type { NotebookPanel } from '@jupyterlab/notebook';
import { join } from 'path';

import { expect, test } from '../support/fixtures';
import { addCell } from '../support/scripts';
import { openWork } from '../support/work';

const root = join(__dirname, '../../..');
const folder = join(root, '.venv/programs/collaboration');

test.use({
  environment: {
    PYTHONPATH: [root, join(root, 'tests/support/without'), folder].join(':'),
    JUPYTER_CONFIG_PATH: join(folder, 'etc/jupyter'),
    JUPYTER_PATH: join(folder, 'share/jupyter')
  }
});

test('a notebook that is open in a room is changed in the page', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, 'a = 1');
  const isShared = await tab.page.evaluate(
    () =>
      (window.jupyterapp.shell.currentWidget as NotebookPanel).context.model
        .collaborative
  );
  expect(isShared).toBe(true);
  await model.script(addCell('print(6 * 7)', { run: true }), { say: 'Done.' });
  await tab.panel.ask('Add a cell');
  await expect(notebook.cells).toHaveCount(2);
  await expect(notebook.output(1)).toHaveText('42');
  await expect
    .poll(async () => {
      const { cells } = await server.read(`${tab.folder}/work.ipynb`);
      return cells.map(({ source }) => [source].flat().join(''));
    })
    .toEqual(['a = 1', 'print(6 * 7)']);
});
