import { expect, test } from '../support/fixtures';
import { openWork } from '../support/work';

test("an agent's cell that fails leaves the user's waiting cells in the kernel's queue", async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(
    tab,
    'import os, time\nwhile not os.path.exists("go"):\n    time.sleep(0.05)\n1 / 0',
    'print("mine")',
    'print("mine as well")',
    'print("of the agent")'
  );
  await model.script(
    {
      call: 'runNotebookCells',
      arguments: { cellIds: ['cell-0', 'cell-3'] }
    },
    { say: 'It fails.' }
  );
  await tab.panel.send('Run them');
  await expect(notebook.prompt(0)).toHaveText('[*]:');
  await expect(tab.panel.root).toContainText('Running cell 1');
  await notebook.run(1);
  await notebook.run(2);
  await server.text(`${tab.folder}/go`, '');
  await tab.panel.ended();

  await expect(notebook.cells.nth(0)).toContainText('ZeroDivisionError');
  await expect(notebook.output(1)).toHaveText('mine');
  await expect(notebook.output(2)).toHaveText('mine as well');
  // The agent's own run has stopped at the error.
  await expect(notebook.prompt(3)).toHaveText('[ ]:');
  const result = JSON.parse((await model.requests())[1].lastOutput) as {
    output?: { runs: { status: string }[] };
    runs?: { status: string }[];
  };
  const runs = result.runs ?? result.output?.runs;
  expect(runs?.map(run => run.status)).toEqual(['error', 'skipped']);
});
