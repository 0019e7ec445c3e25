import { expect, test } from '../support/fixtures';
import { addCell } from '../support/scripts';
import { openWork } from '../support/work';

test('a kernel that dies while a cell runs is reported as that, and the next run works', async ({
  tab,
  model
}) => {
  const notebook = await openWork(
    tab,
    'import os, signal, time\nprint("before", flush=True)\ntime.sleep(0.2)\nos.kill(os.getpid(), signal.SIGKILL)',
    'print("alive again")'
  );
  await tab.closeDialogs();
  await model.script(
    {
      call: 'runNotebookCells',
      arguments: { cellIds: ['cell-0', 'cell-1'] }
    },
    { say: 'The kernel died.' },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'It runs.' }
  );
  await tab.panel.send('Run both');
  await tab.panel.approve();
  await tab.panel.ended();
  const output = (await model.requests())[1].lastOutput;
  expect(output).toContain('kernel_error');
  expect(output).toMatch(/kernel (died|.*restarted)/i);
  await expect(tab.panel.toolCalls).toHaveAttribute('data-status', 'error');
  await expect(tab.panel.toolCalls).toContainText(/kernel/i);
  await tab.panel.ask('Again', 2);
  await expect(notebook.output(1)).toHaveText('alive again');
});

test('a kernel that came back unheard is asked, and runs the next cell', async ({
  lab,
  model,
  server
}) => {
  // From the kernel's death on the page hears only answers to what it asked since `isDeaf` ended.
  let isDeaf = false;
  let hasDied = false;
  const heard: string[] = [];
  await lab.page.routeWebSocket(/\/channels/, socket => {
    const server = socket.connectToServer();
    socket.onMessage(message => {
      const [, id] = /"msg_id": ?"([^"]+)"/.exec(String(message)) ?? [];
      if (id && !isDeaf) {
        heard.push(id);
      }
      server.send(message);
    });
    server.onMessage(message => {
      const text = String(message);
      if (!isDeaf && (!hasDied || heard.some(id => text.includes(id)))) {
        socket.send(message);
      }
      if (/"execution_state": ?"(auto)?restarting"/.test(text)) {
        isDeaf = hasDied = true;
        heard.length = 0;
      }
    });
  });
  const notebook = await openWork(
    lab,
    'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)',
    'print("alive again")'
  );
  await lab.closeDialogs();
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { say: 'The kernel died.' },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'It runs.' }
  );
  await lab.panel.send('Run it');
  await lab.panel.approve();
  await lab.panel.ended();
  expect(isDeaf).toBe(true);
  await lab.panel.send('Again');
  await expect(lab.panel.turns).toHaveCount(2);
  await expect(lab.page.locator('#jp-bottom-panel')).toContainText('Unknown');
  // The server asks it by a way of its own.
  const path = encodeURIComponent(`${lab.folder}/work.ipynb`);
  await expect
    .poll(async () => {
      const { variables } = await server.api<{ variables?: unknown[] }>(
        `datalayer-agent/variables?path=${path}`
      );
      return variables;
    })
    .toEqual([]);
  isDeaf = false;
  await lab.panel.ended(2);
  await expect(notebook.output(1)).toHaveText('alive again');
});

test('a kernel that came back on other ports than the page listens to is reached', async ({
  lab,
  model
}) => {
  // The connection that JupyterLab makes when it hears of the death leads to the ports from before.
  let hasDied = false;
  let isStale = false;
  let stale = 0;
  await lab.page.routeWebSocket(/\/channels/, socket => {
    const server = socket.connectToServer();
    if (hasDied && stale === 0) {
      stale++;
      isStale = true;
      socket.onMessage(() => undefined);
      server.onMessage(() => undefined);
      return;
    }
    isStale = false;
    socket.onMessage(message => server.send(message));
    server.onMessage(message => {
      socket.send(message);
      hasDied ||= /"execution_state": ?"(auto)?restarting"/.test(
        String(message)
      );
    });
  });
  const notebook = await openWork(
    lab,
    'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)',
    'print("alive again")'
  );
  await lab.closeDialogs();
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { say: 'The kernel died.' },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'It runs.' }
  );
  await lab.panel.send('Run it');
  await lab.panel.approve();
  await lab.panel.ended();
  expect(isStale).toBe(true);
  await lab.panel.ask('Again', 2);
  await expect(notebook.output(1)).toHaveText('alive again');
});

test('without a kernel the model is sent what to do, and no dialog opens', async ({
  lab,
  model
}) => {
  const notebook = lab.notebook('cars.ipynb');
  await lab.panel.attach('cars.ipynb');
  await lab.panel.mode('agent');
  await notebook.kernelReady();
  await lab.page.evaluate(async () => {
    await window.jupyterapp.commands.execute('kernelmenu:shutdown');
  });
  await expect.poll(() => notebook.kernelId()).toBe(undefined);
  await model.script(
    addCell('6 * 7', { run: true }),
    { call: 'selectKernel', arguments: { kernelName: 'python3' } },
    {
      call: 'runNotebookCells',
      arguments: { cellIds: [{ regex: '"cellId": ?"([^"]+)"' }] }
    },
    { say: 'It runs now.' }
  );
  await lab.panel.ask('Compute it');
  const requests = await model.requests();
  expect(requests[1].lastOutput).toContain('kernel_error');
  expect(requests[1].lastOutput).toContain('no kernel');
  await expect(lab.page.locator('.jp-Dialog')).toHaveCount(0);
  // The cell exists, and ran once there was a kernel.
  await expect(notebook.output(1)).toHaveText('42');
});

test('a cell that runs out of time is interrupted, and the kernel is free again', async ({
  tab,
  model
}) => {
  const notebook = await openWork(
    tab,
    'import time\nwhile True:\n    time.sleep(0.05)',
    'print("free")'
  );
  await model.script(
    {
      call: 'runNotebookCells',
      arguments: { cellIds: ['cell-0'], timeoutSeconds: 0.5 }
    },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'The first one takes too long.' }
  );
  await tab.panel.ask('Run them');
  expect((await model.requests())[1].lastOutput).toContain('timeout');
  await expect(notebook.output(0)).toContainText('KeyboardInterrupt');
  await expect(notebook.output(1)).toHaveText('free');
});

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
