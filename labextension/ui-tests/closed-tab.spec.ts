import { expect, test } from './support/fixtures';
import { openWork } from './support/work';

test('a tab that is closed in the middle of a run loses neither the run nor its output', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(
    tab,
    `import os, time
while not os.path.exists("go"):
    time.sleep(0.05)
print("went on")`
  );
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { say: 'It ran.' }
  );
  await tab.panel.send('Run it');
  await expect(tab.panel.root).toContainText('Running cell 1');
  await expect(notebook.cells.first()).toContainText('[*]');
  await tab.closeDialogs();
  await tab.page.evaluate(() => window.jupyterapp.shell.currentWidget?.close());
  await expect(notebook.cells).toHaveCount(0);
  await server.text(`${tab.folder}/go`, '');
  await tab.panel.ended(1);
  await expect(tab.panel.toolCalls.last()).toHaveAttribute('data-status', 'ok');
  expect((await model.requests())[1].text).toContain('went on');
});
