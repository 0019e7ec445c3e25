import { Cell, CodeCell } from '@jupyterlab/cells';
import { NotebookActions, setCellExecutor } from '@jupyterlab/notebook';

import { CellRun, RunParams, RunResult } from '../../api';
import { hashSource } from '../../notebook/edits/hash';
import { isAgentsRun } from '../../notebook/kernel/agentRuns';
import { ExecutionTracker } from '../../notebook/kernel/executions';
import { Runner } from '../run';
import { Saver } from '../../notebook/save';
import { onUserActivity } from '../../notebook/userActivity';
import { until } from '../../api/__tests__/support';
import {
  FakeKernel,
  OK,
  raised
} from '../../notebook/kernel/__tests__/fakeKernel';
import {
  code,
  IOpenNotebook,
  markdown,
  open
} from '../../notebook/__tests__/support';

describe('Runner', () => {
  let notebook: IOpenNotebook;
  let kernel: FakeKernel;
  let runner: Runner;
  let progress: string[];
  let abandon: AbortController;
  let saves: number;

  beforeEach(async () => {
    notebook = await open([
      code('a', '1'),
      code('b', '2'),
      markdown('m', '# Title'),
      code('empty', ' \n'),
      code('c', '3')
    ]);
    kernel = new FakeKernel();
    kernel.useIn(notebook.panel);
    progress = [];
    abandon = new AbortController();
    saves = 0;
    notebook.panel.context.saveState.connect((_, state) => {
      saves += state === 'completed' ? 1 : 0;
    });
    runner = new Runner(
      new ExecutionTracker(notebook.tracker),
      new Saver(notebook.tracker),
      kernel,
      { has: () => false }
    );
  });

  afterEach(() => notebook.close());

  function run(
    cellIds: string[],
    params: Partial<RunParams> = {}
  ): Promise<RunResult> {
    return runner.run(
      notebook.panel,
      {
        path: 'x',
        cellIds,
        timeoutMs: 60_000,
        stopOnError: true,
        metadata: {},
        held: false,
        ...params
      },
      'r1',
      (cellId, state, msgId) =>
        progress.push([cellId, state, msgId].filter(Boolean).join(' ')),
      abandon.signal
    );
  }

  /** Wait until the kernel was sent this many cells, and let the last one begin. */
  async function started(count: number): Promise<string> {
    await until(() => kernel.executed.length === count);
    const { request } = kernel.executed[count - 1];
    kernel.start(request, count);
    return request;
  }

  function statuses({ runs }: RunResult): [string, CellRun['status']][] {
    return runs.map(({ cellId, status }) => [cellId, status]);
  }

  it('signals its runs as JupyterLab does, and they are known as the agent’s: nobody takes them for the user’s', async () => {
    const emitted: [string, boolean][] = [];
    const note = (_: unknown, { cell }: { cell: Cell }) =>
      void emitted.push([cell.model.id, isAgentsRun(cell)]);
    const signals = [
      NotebookActions.executionScheduled,
      NotebookActions.executed
    ];
    signals.forEach(signal => signal.connect(note));
    let goesOn = 0;
    const going = onUserActivity(notebook.panel, () => goesOn++);
    const [cell] = notebook.panel.content.widgets;
    try {
      const result = run(['a', 'b'], { stopOnError: false });
      kernel.finish(await started(1), raised('NameError'));
      kernel.finish(await started(2), OK);
      await result;
      expect(emitted).toEqual([
        ['a', true],
        ['a', true],
        ['b', true],
        ['b', true]
      ]);
      expect(isAgentsRun(cell)).toBe(false);
      expect(goesOn).toBe(0);
      // By a command of JupyterLab the user runs one of them again.
      setCellExecutor(kernel);
      const { content, sessionContext } = notebook.panel;
      const again = NotebookActions.runCells(content, [cell], sessionContext);
      kernel.finish(await started(3), OK);
      await again;
      expect(emitted.slice(4)).toEqual([
        ['a', false],
        ['a', false]
      ]);
      expect(goesOn).toBe(1);
    } finally {
      going.dispose();
      signals.forEach(signal => signal.disconnect(note));
    }
  });

  it('runs cells one after the other, reports how each ended, and saves', async () => {
    const result = run(['a', 'b']);
    const first = await started(1);
    expect(kernel.executed).toHaveLength(1);
    kernel.finish(first, { ...OK, execution_count: 1 });
    kernel.finish(await started(2), { ...OK, execution_count: 2 });
    const { runs } = await result;
    expect(runs).toMatchObject([
      { cellId: 'a', index: 0, status: 'ok', executionCount: 1, durationMs: 0 },
      { cellId: 'b', index: 1, status: 'ok', executionCount: 2 }
    ]);
    expect(progress).toEqual([
      'a started m1',
      'a finished',
      'b started m2',
      'b finished'
    ]);
    expect(saves).toBe(1);
  });

  it('skips Markdown and empty cells, saying so', async () => {
    const { runs } = await run(['m', 'empty']);
    expect(runs).toMatchObject([
      { status: 'skipped', note: expect.stringContaining('markdown') },
      { status: 'skipped', note: expect.stringContaining('empty') }
    ]);
    expect(kernel.executed).toHaveLength(0);
  });

  it('stops at the first error, and says that the rest was not run', async () => {
    const result = run(['a', 'b', 'c']);
    kernel.finish(await started(1), raised('KeyError'));
    const { runs } = await result;
    expect(runs).toMatchObject([
      { status: 'error', error: { ename: 'KeyError', evalue: 'why' } },
      { status: 'skipped', note: 'Not run: cell 1 failed.' },
      { status: 'skipped' }
    ]);
    expect(kernel.executed).toHaveLength(1);
  });

  it('goes on after an error when it is asked to', async () => {
    const result = run(['a', 'b'], { stopOnError: false });
    kernel.finish(await started(1), raised('KeyError'));
    kernel.finish(await started(2), OK);
    expect(statuses(await result)).toEqual([
      ['a', 'error'],
      ['b', 'ok']
    ]);
  });

  it('refuses an unknown cell before it runs any', async () => {
    await expect(run(['a', 'q'])).rejects.toMatchObject({ code: 'not_found' });
    expect(kernel.executed).toHaveLength(0);
  });

  it('refuses without a kernel, and opens no dialog', async () => {
    Object.assign(kernel.session, { kernel: null });
    await expect(run(['a'])).rejects.toMatchObject({ code: 'kernel_error' });
    expect(document.querySelector('.jp-Dialog')).toBeNull();
  });

  it('waits for the user’s cell, with the cell shown as waiting', async () => {
    const mine = kernel.send('c');
    kernel.start(mine, 1);
    const result = run(['a'], { timeoutMs: 1 });
    const cell = notebook.panel.content.widgets[0] as CodeCell;
    await until(() => cell.model.executionState === 'running');
    expect(kernel.executed).toHaveLength(0);
    kernel.finish(mine, OK);
    kernel.finish(await started(1), OK);
    expect(statuses(await result)).toEqual([['a', 'ok']]);
    expect(kernel.interrupts).toBe(0);
  });

  it('is stopped while it waits: nothing runs and nothing is interrupted', async () => {
    const mine = kernel.send('c');
    kernel.start(mine, 1);
    const result = run(['a', 'b']);
    const cell = notebook.panel.content.widgets[0] as CodeCell;
    await until(() => cell.model.executionState === 'running');
    await runner.interrupt('r1');
    expect(statuses(await result)).toEqual([
      ['a', 'aborted'],
      ['b', 'aborted']
    ]);
    expect(cell.model.executionState).toBe('idle');
    expect(kernel.executed).toHaveLength(0);
    expect(kernel.interrupts).toBe(0);
  });

  it('is stopped while it runs: the kernel is interrupted and its end awaited', async () => {
    const result = run(['a', 'b']);
    const request = await started(1);
    kernel.onInterrupt = () =>
      kernel.finish(request, raised('KeyboardInterrupt'));
    await runner.interrupt('r1');
    expect(statuses(await result)).toEqual([
      ['a', 'aborted'],
      ['b', 'aborted']
    ]);
    expect(kernel.interrupts).toBe(1);
    await runner.interrupt('r1');
    expect(kernel.interrupts).toBe(1);
  });

  it('does not count the time that a cell waits for the user’s input', async () => {
    const result = run(['a'], { timeoutMs: 300 });
    const request = await started(1);
    await until(() => progress.length === 1);
    kernel.session.pendingInput.emit(true);
    await new Promise(resolve => setTimeout(resolve, 400));
    expect(kernel.interrupts).toBe(0);
    kernel.session.pendingInput.emit(false);
    kernel.finish(request, OK);
    expect(statuses(await result)).toEqual([['a', 'ok']]);
    expect(kernel.interrupts).toBe(0);
    expect(progress.map(each => each.split(' ')[1])).toEqual([
      'started',
      'waiting_for_input',
      'started',
      'finished'
    ]);
  });

  it('gives a cell its time wherever the clock of the day jumps', async () => {
    const result = run(['a'], { timeoutMs: 5000 });
    const request = await started(1);
    await until(() => progress.length === 1);
    const later = Date.now() + 3_600_000;
    const now = jest.spyOn(Date, 'now').mockImplementation(() => later);
    kernel.session.pendingInput.emit(true);
    kernel.session.pendingInput.emit(false);
    now.mockRestore();
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(kernel.interrupts).toBe(0);
    kernel.finish(request, OK);
    expect(statuses(await result)).toEqual([['a', 'ok']]);
  });

  it('does not count the time that the code of a cell asks whether it may act', async () => {
    const result = run(['a'], { timeoutMs: 300 });
    const request = await started(1);
    await until(() => progress.length === 1);
    kernel.ask(request, false);
    // Asked again, since nobody has answered yet.
    kernel.ask(request, false);
    await new Promise(resolve => setTimeout(resolve, 400));
    expect(kernel.interrupts).toBe(0);
    kernel.onInterrupt = () =>
      kernel.finish(request, raised('KeyboardInterrupt'));
    kernel.ask(request, true);
    expect(statuses(await result)).toEqual([['a', 'timeout']]);
  });

  it('counts on while the code of another run asks', async () => {
    const result = run(['a'], { timeoutMs: 50 });
    const request = await started(1);
    await until(() => progress.length === 1);
    kernel.onInterrupt = () =>
      kernel.finish(request, raised('KeyboardInterrupt'));
    kernel.ask('m99', false);
    expect(statuses(await result)).toEqual([['a', 'timeout']]);
  });

  it('counts on once it has its input', async () => {
    const result = run(['a'], { timeoutMs: 50 });
    const request = await started(1);
    await until(() => progress.length === 1);
    kernel.onInterrupt = () =>
      kernel.finish(request, raised('KeyboardInterrupt'));
    kernel.session.pendingInput.emit(true);
    kernel.session.pendingInput.emit(false);
    expect(statuses(await result)).toEqual([['a', 'timeout']]);
  });

  it('peers_06: interrupts a cell that takes too long, counted from its start', async () => {
    const result = run(['a', 'b'], { timeoutMs: 20 });
    const request = await started(1);
    kernel.onInterrupt = () =>
      kernel.finish(request, raised('KeyboardInterrupt'));
    const { runs } = await result;
    expect(runs).toMatchObject([
      { status: 'timeout', error: { ename: 'KeyboardInterrupt' } },
      { status: 'skipped' }
    ]);
    expect(kernel.executed).toHaveLength(1);
  });

  it('reports a kernel that dies', async () => {
    const result = run(['a', 'b']);
    await started(1);
    kernel.setStatus('autorestarting');
    const { runs } = await result;
    expect(runs).toMatchObject([
      { status: 'error', error: { ename: 'DeadKernelError' } },
      { status: 'skipped' }
    ]);
  });

  it('ends before a cell whose source is not the one that may run', async () => {
    const [a, b] = notebook.panel.content.widgets;
    const hashes = {
      a: hashSource(a.model.sharedModel.getSource()),
      b: hashSource(b.model.sharedModel.getSource())
    };
    const result = run(['a', 'b', 'c'], { held: true });
    runner.allow('r1', hashes);
    const request = await started(1);
    // Somebody changes the next cell while the first one runs.
    b.model.sharedModel.setSource('os.remove("cars.csv")');
    kernel.finish(request, OK);
    const { runs, changed } = await result;
    expect(runs.map(({ cellId, status }) => [cellId, status])).toEqual([
      ['a', 'ok']
    ]);
    expect(changed).toBe('b');
    expect(kernel.executed).toHaveLength(1);
    expect((b as CodeCell).model.executionState).toBe('idle');
  });

  it('shows that a held cell waits, and sends it once it may run', async () => {
    const [cell] = notebook.panel.content.widgets as CodeCell[];
    const result = run(['a'], { held: true });
    await until(() => cell.model.executionState === 'running');
    await until(() => cell.promptNode!.textContent === '[*]:');
    expect(kernel.executed).toHaveLength(0);
    runner.allow('r1', {});
    kernel.finish(await started(1), OK);
    expect((await result).runs).toMatchObject([{ cellId: 'a', status: 'ok' }]);
  });

  it('a held run that is stopped sends nothing, and its cell waits no more', async () => {
    const [cell] = notebook.panel.content.widgets as CodeCell[];
    const result = run(['a', 'b'], { held: true });
    await until(() => cell.model.executionState === 'running');
    await runner.interrupt('r1');
    const { runs } = await result;
    expect(runs.map(({ status }) => status)).toEqual(['aborted', 'aborted']);
    expect(cell.model.executionState).toBe('idle');
    // It comes too late.
    runner.allow('r1', {});
    expect(kernel.executed).toHaveLength(0);
  });

  it('a held run that nobody waits for ends with nothing sent or saved', async () => {
    const [cell] = notebook.panel.content.widgets as CodeCell[];
    const result = run(['a', 'b'], { held: true });
    await until(() => cell.promptNode!.textContent === '[*]:');
    abandon.abort();
    const { runs } = await result;
    expect(runs.map(({ status }) => status)).toEqual(['aborted', 'aborted']);
    expect(cell.promptNode!.textContent).toBe('[ ]:');
    expect(kernel.executed).toHaveLength(0);
    expect(saves).toBe(0);
  });

  it('a run that was allowed goes on when nobody waits for it', async () => {
    const result = run(['a', 'b'], { held: true });
    runner.allow('r1', {});
    kernel.finish(await started(1), OK);
    abandon.abort();
    kernel.finish(await started(2), OK);
    expect((await result).runs).toMatchObject([
      { status: 'ok' },
      { status: 'ok' }
    ]);
  });

  it('sends no other text than the one that may run, whatever the executor does', async () => {
    const [cell] = notebook.panel.content.widgets;
    const source = cell.model.sharedModel.getSource();
    const result = run(['a'], { held: true });
    runner.allow('r1', { a: hashSource(source) });
    const request = await started(1);
    const sent = kernel.executed[0].sessionContext!.session!.kernel!;
    const send = (code: string) => () => sent.requestExecute({ code }, false);
    expect(send('os.remove("cars.csv")')).toThrow('was changed');
    expect(send(source)).not.toThrow();
    kernel.finish(request, OK);
    await result;
  });

  it('is given up when the notebook is closed: nothing is interrupted or said to have ended', async () => {
    const result = run(['a', 'b']);
    const request = await started(1);
    await until(() => progress.length === 1);
    notebook.panel.dispose();
    await expect(result).rejects.toMatchObject({ code: 'not_open' });
    kernel.finish(request, OK);
    await runner.interrupt('r1');
    expect(progress).toEqual(['a started m1']);
    expect(kernel.executed).toHaveLength(1);
    expect(kernel.interrupts).toBe(0);
  });

  it('is given up when the notebook is closed while it waits for the user’s cell', async () => {
    const mine = kernel.send('c');
    kernel.start(mine, 1);
    const result = run(['a']);
    const cell = notebook.panel.content.widgets[0] as CodeCell;
    await until(() => cell.model.executionState === 'running');
    notebook.panel.dispose();
    await expect(result).rejects.toMatchObject({ code: 'not_open' });
    kernel.finish(mine, OK);
    expect(kernel.executed).toHaveLength(0);
  });

  it('leaves the kernel’s queue alone when a cell fails, and the session as it is', async () => {
    const result = run(['a']);
    const request = await started(1);
    const { sessionContext } = kernel.executed[0];
    const sent = sessionContext!.session!.kernel!;
    sent.requestExecute({ code: '1', stop_on_error: true }, false);
    expect(kernel.requests).toEqual([{ code: '1', stop_on_error: false }]);
    kernel.context.session!.kernel!.requestExecute({ code: '2' });
    expect(kernel.requests[1]).toEqual({ code: '2' });
    expect(sent.id).toBe('k');
    kernel.finish(request, OK);
    await result;
  });

  it('leaves mode and active cell alone', async () => {
    const { content } = notebook.panel;
    content.activeCellIndex = 4;
    content.mode = 'edit';
    const result = run(['a']);
    kernel.finish(await started(1), OK);
    await result;
    expect(content.mode).toBe('edit');
    expect(content.activeCell?.model.id).toBe('c');
  });
});
