import type { NotebookPanel } from '@jupyterlab/notebook';

import { expect, test } from '../support/fixtures';
import { openWork } from '../support/work';

test.use({ keepsTab: false });

test('peers 8: a reload in the middle of a turn shows the same conversation and goes on streaming', async ({
  lab,
  model
}) => {
  await model.script(
    { say: 'An earlier answer.' },
    { call: 'getNotebookCells' },
    { gate: { say: 'The first half and the second half', chunk: 14 }, after: 1 }
  );
  await lab.panel.attach('cars.ipynb');
  await lab.panel.ask('An earlier question');
  await lab.panel.send('What is here?');
  await model.atGate();
  await expect(lab.panel.answers.last()).toHaveText('The first half');
  const before = await lab.panel.turns.allInnerTexts();

  await lab.page.reload();
  await lab.shown();
  await expect(lab.panel.turns).toHaveCount(2);
  await expect(lab.panel.answers.last()).toHaveText('The first half');
  await expect(lab.panel.toolCalls).toHaveAttribute('data-status', 'ok');
  expect((await lab.panel.turns.allInnerTexts())[0]).toBe(before[0]);
  await expect(lab.panel.attachments).toContainText('cars.ipynb');
  await expect(lab.panel.stopButton).toBeVisible();

  await model.release();
  await lab.panel.ended(2);
  await expect(lab.panel.answers.last()).toHaveText(
    'The first half and the second half'
  );
  expect(await model.requests()).toHaveLength(3);
});

test('a server that was killed in the middle of a turn loses nothing that was shown', async ({
  lab,
  model,
  server
}) => {
  await model.script(
    { call: 'getNotebookCells' },
    {
      gate: { say: 'The first half and the second half', chunk: 14 },
      after: 1
    },
    { say: 'You asked what is here.' }
  );
  await lab.panel.attach('cars.ipynb');
  await lab.panel.mode('agent');
  await lab.panel.send('What is here?');
  await model.atGate();
  await expect(lab.panel.answers).toHaveText('The first half');
  await lab.panel.input.fill('Written while it was gone');

  await server.kill();
  await expect(lab.panel.root).toContainText('Connection lost');
  await expect(lab.panel.input).toHaveValue('Written while it was gone');
  await expect(lab.panel.answers).toHaveText('The first half');
  await server.startAgain();

  await expect(lab.panel.root).not.toContainText('Connection lost', {
    timeout: 40_000
  });
  await lab.panel.ended(1, 'aborted');
  await expect(lab.panel.answers).toHaveText('The first half');
  await expect(lab.panel.toolCalls).toHaveAttribute('data-status', 'ok');
  await expect(lab.panel.input).toHaveValue('Written while it was gone');

  // The conversation goes on, and the model knows what came before.
  await lab.closeDialogs();
  await lab.panel.sendButton.click();
  await lab.panel.ended(2);
  const next = (await model.requests())[2].text;
  expect(next).toContain('What is here?');
  expect(next).toContain('The first half');
  await expect(lab.panel.input).toHaveValue('');
});

test('a cell that waits for an approval waits no more when the server was killed', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(
    tab,
    'import os, time\nwhile not os.path.exists("go"):\n    time.sleep(0.05)',
    'x = 1'
  );
  await notebook.run(0);
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'Not run.' }
  );
  await tab.panel.send('Run it');
  await expect(notebook.prompt(1)).toHaveText('[*]:');
  // The run has begun, and waits for the kernel: its text is asked about when that is free.
  await notebook.type(1, '\n!rm -f junk.txt');
  await server.text(`${tab.folder}/go`, '');
  const card = tab.panel.waiting;
  await expect(card).toContainText('Cell 2 removes junk.txt (line 2)');
  await expect(notebook.prompt(0)).toHaveText('[1]:');
  await expect(notebook.prompt(1)).toHaveText('[*]:');

  await server.kill();
  await expect(tab.panel.root).toContainText('Connection lost');
  await server.startAgain();
  await expect(tab.panel.root).not.toContainText('Connection lost', {
    timeout: 40_000
  });
  await expect(notebook.prompt(1)).toHaveText('[ ]:');
  await expect(notebook.prompt(0)).toHaveText('[1]:');

  // The turn goes on, and asks about the text as it is now.
  await expect(card).toContainText('Cell 2 removes junk.txt (line 2)');
  await expect(card).not.toContainText('This is not what you approved');
  await tab.closeDialogs();
  await card.getByTestId('da-deny').click();
  await tab.panel.ended();
  await expect(tab.panel.answers).toHaveText('Not run.');
});

test('a page that is closed in the middle of a run leaves the run going, and its outputs in the file', async ({
  tab,
  model,
  server
}) => {
  await openWork(
    tab,
    `import os, time
while not os.path.exists("go"):
    time.sleep(0.05)
for _ in range(60):
    time.sleep(0.05)
print("went on")`,
    'print("and the next")'
  );
  await model.script(
    {
      call: 'runNotebookCells',
      arguments: { cellIds: ['cell-0', 'cell-1'] }
    },
    { say: 'Both ran.' }
  );
  await tab.panel.send('Run both');
  await expect(tab.panel.root).toContainText('Running cell 1');
  await tab.page.close();
  await server.text(`${tab.folder}/go`, '');
  await expect
    .poll(
      async () =>
        JSON.stringify(
          (await server.read(`${tab.folder}/work.ipynb`)).cells.map(
            cell => cell.outputs
          )
        ),
      { timeout: 60_000 }
    )
    .toMatch(/went on.*and the next/);
  const result = JSON.parse((await model.request(2)).lastOutput) as {
    runs: { status: string }[];
  };
  expect(result.runs.map(run => run.status)).toEqual(['ok', 'ok']);
});

test("the cell toolbar's Ask can be used as soon as its notebook is active, whenever it was drawn", async ({
  lab,
  server
}) => {
  // As at a reload: a notebook and its toolbar are there before the notebook is active.
  await lab.open('cars.csv');
  const path = `${lab.folder}/other.ipynb`;
  await server.notebook(path, [{ source: 'other = 1', id: 'other' }]);
  await lab.page.evaluate(async path => {
    await window.jupyterapp.commands.execute('docmanager:open', {
      path,
      options: { activate: false, mode: 'split-right' }
    });
  }, path);
  const ask = lab.page
    .locator('.jp-Cell', { hasText: 'other = 1' })
    .locator('[data-command="datalayer-agent:inline-chat"]');
  await expect(ask).toHaveAttribute('aria-disabled', 'true');
  await lab.page.evaluate(path => {
    const { shell } = window.jupyterapp;
    for (const widget of shell.widgets('main')) {
      if ((widget as NotebookPanel).context?.path === path) {
        shell.activateById(widget.id);
      }
    }
  }, path);
  await expect(ask).toHaveAttribute('aria-disabled', 'false');
});
