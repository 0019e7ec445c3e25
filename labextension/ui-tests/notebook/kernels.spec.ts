import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { addCell } from '../support/scripts';
import { shootBoth } from '../support/screenshots';
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

test('in a page, too, the results say what a dead kernel took and what has to run again', async ({
  tab,
  model
}) => {
  const notebook = await openWork(
    tab,
    'd = 5',
    'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)',
    'd + 1'
  );
  await tab.closeDialogs();
  const run = (cellId: string) => ({
    call: 'runNotebookCells',
    arguments: { cellIds: [cellId] }
  });
  await model.script(
    run('cell-0'),
    run('cell-1'),
    { say: 'The kernel died.' },
    run('cell-2'),
    { call: 'getNotebookCells' },
    {
      call: 'runNotebookCells',
      arguments: { cellIds: ['cell-0', 'cell-2'] }
    },
    { say: 'Six.' }
  );
  await tab.panel.send('Run the first two');
  await tab.panel.approve();
  await tab.panel.ended();
  await tab.panel.ask('And the last one', 2);
  const requests = await model.requests();
  const died = requests[2].lastOutput;
  expect(died).toContain('The kernel died');
  expect(died).toContain('All variables are gone.');
  expect(died).toContain('Run cell 1 again');
  expect(died).toMatch(/"runAgain": ?\["cell-0"\]/);
  // The next turn's context says so, and so does the result of the cell that needs it.
  expect(JSON.stringify(requests[3])).toContain('cell 1 has not run since');
  expect(requests[4].lastOutput).toContain('NameError');
  expect(requests[4].lastOutput).toMatch(/"runAgain": ?\["cell-0"\]/);
  expect(requests[4].lastOutput).toContain('run it again before you change');
  await expect(notebook.output(2)).toHaveText('6');
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

test('after a restart of the server all tools use one kernel, which the page shows', async ({
  lab,
  model,
  server
}) => {
  const notebook = await openWork(lab, 'd = 5', 'print(d + 1)');
  await notebook.kernelReady();
  const before = await notebook.kernelId();
  await lab.closeDialogs();
  await server.kill();
  await expect(lab.panel.root).toContainText('Connection lost');
  await server.startAgain();
  await expect(lab.panel.root).not.toContainText('Connection lost', {
    timeout: 40_000
  });
  await model.script(
    { call: 'executeCode', arguments: { code: 'd = 40; print("in it", d)' } },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { call: 'listKernels' },
    { call: 'selectKernel', arguments: { kernelName: 'python3' } },
    { say: 'All in one kernel.' }
  );
  await lab.panel.send('Use the kernel');
  await lab.panel.approve();
  await lab.panel.ended();
  const requests = await model.requests();
  // What the page had is gone, and is not said to run.
  expect(JSON.stringify(requests[0])).not.toContain(before!);
  expect(requests[1].lastOutput).toContain('in it 40');
  expect(requests[2].lastOutput).toContain('41');
  await expect(notebook.output(1)).toHaveText('41');
  const { running } = outputOf<{ running: { id: string; path: string }[] }>(
    requests[3].lastOutput
  );
  expect(running.filter(({ path }) => path === notebook.path)).toHaveLength(1);
  const sessions =
    await server.api<{ path: string; kernel: { id: string } }[]>(
      'api/sessions'
    );
  const own = sessions.filter(({ path }) => path === notebook.path);
  expect(own).toHaveLength(1);
  await expect.poll(() => notebook.kernelId()).toBe(own[0].kernel.id);
});

const WITHOUT_A_KERNEL = {
  'shut down': async (lab: LabPage) =>
    lab.page.evaluate(async () => {
      await window.jupyterapp.commands.execute('kernelmenu:shutdown');
    }),
  'no kernel in the dialog': async (lab: LabPage) => {
    await lab.page.evaluate(() => {
      void window.jupyterapp.commands.execute('kernelmenu:change');
    });
    const dialog = lab.page.locator('.jp-Dialog');
    await dialog.locator('select').selectOption({ label: 'No Kernel' });
    await dialog.locator('.jp-mod-accept').click();
    await expect(dialog).toHaveCount(0);
  }
};

for (const [how, choose] of Object.entries(WITHOUT_A_KERNEL)) {
  test(`where the user chose no kernel (${how}), a run starts one, which the page shows`, async ({
    lab,
    model,
    server
  }) => {
    const notebook = lab.notebook('cars.ipynb');
    await lab.panel.attach('cars.ipynb');
    await lab.panel.mode('agent');
    await notebook.kernelReady();
    await choose(lab);
    await expect.poll(() => notebook.kernelId()).toBe(undefined);
    await model.script(
      { call: 'listKernels' },
      addCell('6 * 7', { run: true }),
      { call: 'executeCode', arguments: { code: 'print(_ + 1)' } },
      { say: 'It runs.' }
    );
    await lab.panel.ask('Compute it');
    const requests = await model.requests();
    expect(JSON.stringify(requests[0])).toContain('kernel not started');
    const { running } = outputOf<{ running: { path?: string }[] }>(
      requests[1].lastOutput
    );
    expect(running.filter(({ path }) => path === notebook.path)).toEqual([]);
    expect(requests[3].lastOutput).toContain('43');
    await expect(lab.page.locator('.jp-Dialog')).toHaveCount(0);
    await expect(notebook.output(1)).toHaveText('42');
    const sessions =
      await server.api<{ path: string; kernel: { id: string } }[]>(
        'api/sessions'
      );
    const own = sessions.filter(({ path }) => path === notebook.path);
    expect(own.map(({ kernel }) => kernel.id)).toEqual([
      await notebook.kernelId()
    ]);
  });
}

test('a second page that shows the notebook is brought to the kernel that the agent started', async ({
  lab,
  model,
  server
}) => {
  const notebook = await openWork(lab, 'print(6 * 7)');
  await notebook.kernelReady();
  const other = new LabPage(
    await lab.page.context().newPage(),
    server,
    lab.folder
  );
  await other.load('work.ipynb');
  const shown = other.notebook('work.ipynb');
  await shown.ready();
  await lab.page.evaluate(async () => {
    await window.jupyterapp.commands.execute('kernelmenu:shutdown');
  });
  await expect.poll(() => notebook.kernelId()).toBe(undefined);
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { say: 'It ran.' }
  );
  await lab.panel.ask('Run it');
  await expect(notebook.output(0)).toHaveText('42');
  const kernelId = await notebook.kernelId();
  await expect.poll(() => shown.kernelId()).toBe(kernelId);
  const sessions = await server.api<{ path: string }[]>('api/sessions');
  expect(sessions.filter(({ path }) => path === notebook.path)).toHaveLength(1);
  await other.page.close();
});

test('a cell that asks the user is said to wait, goes on when it is answered, and can be stopped', async ({
  tab,
  model
}) => {
  const notebook = await openWork(
    tab,
    'print("hello", input("Who? "))',
    'print("free")'
  );
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { say: 'It said hello.' },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'It is free.' }
  );
  const waits = tab.panel.root.getByText('Cell 1 is waiting for your input');
  const answer = notebook.cells.nth(0).locator('.jp-Stdin-input');
  await tab.panel.send('Run it');
  await expect(waits.first()).toBeVisible();
  await expect(tab.panel.root.getByRole('status')).toContainText([
    'Cell 1 is waiting for your input'
  ]);
  await shootBoth(tab, 'waiting-for-input');
  await answer.fill('Ada');
  await answer.press('Enter');
  await tab.panel.ended();
  await expect(waits).toHaveCount(0);
  await expect(notebook.cells.nth(0)).toContainText('hello Ada');
  expect((await model.requests())[1].lastOutput).toContain('hello Ada');

  await tab.panel.send('Again');
  await expect(waits.first()).toBeVisible();
  await tab.panel.stopButton.click();
  await tab.panel.ended(2, 'aborted');
  await expect(notebook.cells.nth(0)).toContainText('KeyboardInterrupt');
  await tab.panel.ask('And now', 3);
  await expect(notebook.output(1)).toHaveText('free');
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
  const { runs, skippedCells } = outputOf<{
    runs: { status: string }[];
    skippedCells: Record<string, number[]>;
  }>((await model.requests())[1].lastOutput);
  expect(runs.map(run => run.status)).toEqual(['error']);
  expect(Object.values(skippedCells)).toEqual([[4]]);
});

/** The output of a tool, as the model was sent it. */
function outputOf<T>(text: string): T {
  const result = JSON.parse(text) as { output?: T };
  return result.output ?? (result as T);
}
