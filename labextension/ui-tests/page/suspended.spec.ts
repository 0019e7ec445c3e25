import { Browser } from '@playwright/test';

import { LabPage } from '../support/lab';
import { NotebookPage } from '../support/notebook';
import { expect, test } from '../support/fixtures';
import { LabServer } from '../support/server';
import { openWork } from '../support/work';

test.use({ keepsTab: true });

/** How long what is stopped stays so. By hand: SUSPEND_SECONDS=90. */
const SECONDS = Number(process.env.SUSPEND_SECONDS ?? 2);

/** Says who it is, waits for a file `go`, and prints again. */
const WAITS = `import os, time
print("pid", os.getpid(), flush=True)
while not os.path.exists("go"):
    time.sleep(0.05)
print("printed late")`;

interface IRun {
  status: string;
  outputs: string;
  note?: string;
}

/** Stops processes as a suspended machine does, and lets them go on. */
interface ISuspended {
  stop(kernel: number): Promise<void>;
  resume(kernel: number): Promise<void>;
}

function ofServer(server: LabServer): ISuspended {
  return {
    stop: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT')
  };
}

const ofKernel: ISuspended = {
  stop: async kernel => void process.kill(kernel, 'SIGSTOP'),
  resume: async kernel => void process.kill(kernel, 'SIGCONT')
};

/** The processes in which the browser's pages run. */
async function ofPages(browser: Browser): Promise<ISuspended> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pids = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => id);
  expect(pids.length).toBeGreaterThan(0);
  const send = async (name: 'SIGSTOP' | 'SIGCONT') => {
    pids.forEach(pid => process.kill(pid, name));
  };
  return { stop: () => send('SIGSTOP'), resume: () => send('SIGCONT') };
}

async function kernelOf(notebook: NotebookPage): Promise<number> {
  await expect(notebook.output(0)).toHaveText(/^pid \d+\s*$/);
  return Number((await notebook.output(0).innerText()).split(' ')[1]);
}

const CASES: [string, (lab: LabPage) => Promise<ISuspended[]>][] = [
  ['the server', async tab => [ofServer(tab.server)]],
  ['the kernel', async () => [ofKernel]],
  [
    'the whole machine',
    async tab => [
      ofServer(tab.server),
      ofKernel,
      await ofPages(tab.page.context().browser()!)
    ]
  ]
];

for (const [what, processes] of CASES) {
  test(`${what} is stopped for a while in a run of the agent, and all goes on`, async ({
    tab,
    model,
    server
  }) => {
    test.setTimeout(120_000 + SECONDS * 1000);
    const notebook = await openWork(tab, WAITS, 'print(6 * 7)');
    await model.script(
      { call: 'runNotebookCells', arguments: { cellIds: ['cell-0'] } },
      { say: 'It ran.' }
    );
    await tab.panel.send('Run it');
    const kernel = await kernelOf(notebook);
    const suspended = await processes(tab);
    for (const each of suspended) {
      await each.stop(kernel);
    }
    // There is no event of a stopped process: it is the time itself that is tried.
    await new Promise(resolve => setTimeout(resolve, SECONDS * 1000));
    for (const each of suspended) {
      await each.resume(kernel);
    }
    await server.text(`${tab.folder}/go`, '');
    await tab.panel.ended();

    await expect(tab.panel.toolCalls).toHaveAttribute('data-status', 'ok');
    await expect(tab.panel.answers).toHaveText('It ran.');
    const [first] = runsIn((await model.requests())[1].lastOutput);
    expect(first).toMatchObject({
      status: 'ok',
      outputs: `pid ${kernel}\nprinted late`
    });
    expect(first.note).toBe(undefined);
    await expect(notebook.output(0)).toHaveText(`pid ${kernel}\nprinted late`);

    // The session, the kernel and the page go on.
    await model.script(
      { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
      { say: 'It is 42.' }
    );
    await tab.panel.ask('And the next', 2);
    await expect(tab.panel.answers.nth(1)).toHaveText('It is 42.');
    await expect(notebook.output(1)).toHaveText('42');
    await expect(tab.page.locator('.jp-Dialog')).toHaveCount(0);
    await expect.poll(() => notebook.isDirty()).toBe(false);
    const { cells } = await server.read(`${tab.folder}/work.ipynb`);
    expect(cells.map(({ outputs }) => JSON.stringify(outputs))).toEqual([
      expect.stringContaining('printed late'),
      expect.stringContaining('42')
    ]);
  });
}

function runsIn(output: string): IRun[] {
  return (JSON.parse(output) as { runs: IRun[] }).runs;
}
