import { ISessionContext } from '@jupyterlab/apputils';
import { CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import {
  INotebookCellExecutor,
  NotebookActions,
  NotebookPanel,
  runCell
} from '@jupyterlab/notebook';
import { PromiseDelegate } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

import { CellRun, CellRunError, PageProgress, PageRequestError } from '../api';
import { RunParams, RunResult } from '../api';
import { indexOf, indicesOf, keepIds, sharedNotebook } from './cells';
import { ExecutionTracker } from './executions';
import { kernelFree, kernelReady } from './kernel';
import { Saver } from './save';
import { CellWatch } from './watch';

/** How long code that was interrupted gets to stop, in ms. */
const INTERRUPT_MS = 10_000;

export type Progress = (cellId: string, state: PageProgress['state']) => void;

type Status = CellRun['status'];

/** How the executor says that a cell ended. */
type Verdict = Parameters<
  INotebookCellExecutor.IRunCellOptions['onCellExecuted']
>[0];

/** A run that goes on: the cells of one request of the server. */
class Run {
  constructor(
    readonly panel: NotebookPanel,
    readonly params: RunParams,
    readonly progress: Progress
  ) {}

  get context(): ISessionContext {
    return this.panel.sessionContext;
  }

  /** Fulfilled when somebody stopped the run. */
  readonly stopped = new PromiseDelegate<void>();
  isStopped = false;
  /** Fulfilled when nothing of the run goes on. */
  readonly ended = new PromiseDelegate<void>();
}

/** What became of a cell's execution. */
interface IOutcome {
  /** Why it was interrupted, if it was. */
  interrupted: 'timeout' | 'stopped' | null;
  /** Whether the execution is over. */
  ended: boolean;
  /** The verdict of the executor, where it gave one. */
  verdict: Verdict | null;
}

/**
 * Runs cells as a person would: through the page's own session, one after the other, so that
 * nothing of ours is in the kernel's queue behind the person's cells or when a run is stopped.
 *
 * The focus, the mode and the active cell stay where they are.
 */
export class Runner {
  constructor(
    private readonly _executions: ExecutionTracker,
    private readonly _saver: Saver,
    private readonly _executor: INotebookCellExecutor | null
  ) {}

  /** Run the cells of a request; the notebook is saved at the end. */
  async run(
    panel: NotebookPanel,
    params: RunParams,
    requestId: string,
    progress: Progress
  ): Promise<RunResult> {
    const notebook = sharedNotebook(panel);
    indicesOf(notebook, params.cellIds);
    keepIds(notebook);
    const run = new Run(panel, params, progress);
    this._runs.set(requestId, run);
    try {
      const runs = await this._runAll(run);
      await this._save(panel, runs);
      return { runs };
    } finally {
      this._runs.delete(requestId);
      run.ended.resolve();
    }
  }

  /**
   * Stop a run: what waits is not run, and the kernel is interrupted only if it runs our request.
   * Fulfilled when nothing of the run goes on; at once if it has ended.
   */
  async interrupt(requestId: string): Promise<void> {
    const run = this._runs.get(requestId);
    if (run) {
      run.isStopped = true;
      run.stopped.resolve();
      await run.ended.promise;
    }
  }

  private async _runAll(run: Run): Promise<CellRun[]> {
    const runs: CellRun[] = [];
    let rest: Pick<CellRun, 'status' | 'note'> | null = null;
    for (const cellId of run.params.cellIds) {
      const result: CellRun = rest
        ? { ...this._identify(run, cellId), ...rest }
        : await this._runCell(run, cellId, runs);
      runs.push(result);
      rest ??= this._restAfter(run, result);
    }
    return runs;
  }

  /** What is to be said of the cells after this one, if they are not to be run. */
  private _restAfter(
    run: Run,
    { status, note, index, error }: CellRun
  ): Pick<CellRun, 'status' | 'note'> | null {
    if (run.isStopped) {
      return { status: 'aborted', note: 'Not run: the run was stopped.' };
    }
    const stop = run.params.stopOnError;
    const failed = status !== 'ok' && status !== 'skipped';
    if (
      status === 'timeout' ||
      error?.ename === DEAD_KERNEL ||
      (failed && stop && note !== EXPECTED_ERROR)
    ) {
      const number =
        index === undefined ? 'an earlier cell' : `cell ${index + 1}`;
      return { status: 'skipped', note: `Not run: ${number} failed.` };
    }
    return null;
  }

  private async _runCell(
    run: Run,
    cellId: string,
    before: readonly CellRun[]
  ): Promise<CellRun> {
    const cell = this._identify(run, cellId);
    if (cell.index === undefined) {
      return { ...cell, status: 'aborted', note: 'The cell was deleted.' };
    }
    const shared = sharedNotebook(run.panel).cells[cell.index];
    if (shared.cell_type !== 'code') {
      const note = `Not run: the cell is ${shared.cell_type}.`;
      return { ...cell, status: 'skipped', note };
    }
    if (!shared.getSource().trim()) {
      return {
        ...cell,
        status: 'skipped',
        note: 'Not run: the cell is empty.'
      };
    }
    if (run.isStopped) {
      return { ...cell, status: 'aborted', note: 'Not run: stopped.' };
    }
    try {
      await kernelReady(run.context);
    } catch (error) {
      if (before.length === 0 || !(error instanceof PageRequestError)) {
        throw error;
      }
      // What ran before is to be told.
      return { ...cell, status: 'error', error: kernelFailure(error.message) };
    }
    if (!(await this._waitForTurn(run, cellId))) {
      return { ...cell, status: 'aborted', note: 'Not run: stopped.' };
    }
    return this._execute(run, cellId);
  }

  /** Wait until the kernel has done what it was given before; false if the run was stopped. */
  private async _waitForTurn(run: Run, cellId: string): Promise<boolean> {
    const { context } = run;
    this._executions.schedule(context, cellId);
    const model = this._widget(run, cellId)?.model as
      ICodeCellModel | undefined;
    if (model) {
      model.executionState = 'running';
    }
    await kernelFree(context, this._executions, run.stopped.promise);
    if (run.isStopped) {
      this._executions.unschedule(context, cellId);
      if (model && !model.isDisposed) {
        model.executionState = 'idle';
      }
    }
    return !run.isStopped;
  }

  private async _execute(run: Run, cellId: string): Promise<CellRun> {
    const widget = this._widget(run, cellId);
    if (!widget) {
      const cell = this._identify(run, cellId);
      return { ...cell, status: 'aborted', note: 'The cell was deleted.' };
    }
    const source = widget.model.sharedModel.getSource();
    const watch = new CellWatch(this._executions, run.context, cellId, source);
    try {
      const outcome = await this._follow(run, widget, watch);
      return this._result(run, cellId, watch, outcome);
    } finally {
      watch.dispose();
      run.progress(cellId, 'finished');
    }
  }

  /** Send the cell to the kernel, and see it to its end or to what must be its end. */
  private async _follow(
    run: Run,
    widget: CodeCell,
    watch: CellWatch
  ): Promise<IOutcome> {
    const outcome: IOutcome = {
      interrupted: null,
      ended: false,
      verdict: null
    };
    const executed = this._send(run, widget, outcome).then(() => {
      outcome.ended = true;
    });
    const lost = watch.lost.then(() => executedOrLost(executed));
    let timer: number | undefined;
    const late = watch.started.then(() => {
      run.progress(widget.model.id, 'started');
      return new Promise<'timeout'>(resolve => {
        timer = window.setTimeout(resolve, run.params.timeoutMs, 'timeout');
      });
    });
    const stopped = Promise.all([run.stopped.promise, watch.started]).then(
      () => 'stopped' as const
    );
    outcome.interrupted =
      (await Promise.race([executed, lost, late, stopped])) ?? null;
    window.clearTimeout(timer);
    if (outcome.interrupted && !outcome.ended) {
      await run.context.session?.kernel?.interrupt();
      await Promise.race([executed, lost, sleep(INTERRUPT_MS)]);
    }
    return outcome;
  }

  /** Fulfilled when the executor is done with the cell, however that ended. */
  private async _send(
    run: Run,
    widget: CodeCell,
    outcome: IOutcome
  ): Promise<void> {
    const { content: notebook, sessionContext } = run.panel;
    const execute = this._executor?.runCell.bind(this._executor) ?? runCell;
    try {
      await execute({
        cell: widget,
        notebook: notebook.model!,
        notebookConfig: notebook.notebookConfig,
        sessionContext,
        onCellExecutionScheduled: ({ cell }) =>
          announce(NotebookActions.executionScheduled, { notebook, cell }),
        onCellExecuted: args => {
          outcome.verdict = args;
          announce(NotebookActions.executed, { notebook, ...args });
        }
      });
    } catch (error) {
      // The error of a cell that failed was told to `onCellExecuted`; any other was not.
      if (!outcome.verdict) {
        console.debug('datalayer-agent: the cell was not executed', error);
      }
    }
  }

  private _result(
    run: Run,
    cellId: string,
    watch: CellWatch,
    outcome: IOutcome
  ): CellRun {
    const cell = this._identify(run, cellId);
    const known = this._executions.get(run.context, cellId);
    const result: CellRun = {
      ...cell,
      ...this._judge(run, watch, outcome),
      durationMs: known?.durationMs,
      outputs: []
    };
    if (cell.index === undefined) {
      result.note = 'The cell was deleted while it ran.';
      return result;
    }
    const shared = sharedNotebook(run.panel).cells[cell.index];
    if (shared.cell_type === 'code') {
      result.executionCount = watch.reply?.execution_count ?? known?.order;
      result.outputs = shared.getOutputs() as CellRun['outputs'];
      const tags = shared.getMetadata('tags');
      if (
        result.status === 'error' &&
        Array.isArray(tags) &&
        tags.includes('raises-exception')
      ) {
        result.note = EXPECTED_ERROR;
      }
    }
    return result;
  }

  /** How a cell's execution ended, by what the kernel said of it. */
  private _judge(
    run: Run,
    { reply }: CellWatch,
    { interrupted, ended, verdict }: IOutcome
  ): { status: Status; error?: CellRunError; note?: string } {
    if (!ended && interrupted) {
      const status = interrupted === 'timeout' ? 'timeout' : 'aborted';
      return { status, note: STILL_RUNNING };
    }
    if (reply?.status === 'ok') {
      return { status: 'ok' };
    }
    const error = errorOf(reply, verdict);
    if (interrupted === 'timeout') {
      const seconds = run.params.timeoutMs / 1000;
      const note = `The cell was interrupted after ${seconds} s.`;
      return { status: 'timeout', error, note };
    }
    if (interrupted === 'stopped') {
      return { status: 'aborted', error, note: 'The cell was interrupted.' };
    }
    if (reply?.status === 'error') {
      return { status: 'error', error };
    }
    if (reply) {
      const note =
        'The kernel did not run the cell, since one before it failed.';
      return { status: 'aborted', note };
    }
    if (verdict) {
      // The executor has its own way to the kernel.
      return { status: verdict.success ? 'ok' : 'error', error };
    }
    const gone = 'The kernel died or was restarted while the cell ran.';
    return { status: 'error', error: kernelFailure(gone) };
  }

  private async _save(panel: NotebookPanel, runs: CellRun[]): Promise<void> {
    const last = runs[runs.length - 1];
    if (!last || runs.every(({ status }) => status === 'skipped')) {
      return;
    }
    try {
      await this._saver.save(panel.context);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      last.note = last.note ? `${last.note} ${why}` : why;
    }
  }

  private _identify(
    run: Run,
    cellId: string
  ): Pick<CellRun, 'cellId' | 'index'> & {
    status: Status;
  } {
    const model = run.panel.content.model;
    const index = model ? indexOf(sharedNotebook(run.panel), cellId) : -1;
    return { cellId, index: index < 0 ? undefined : index, status: 'skipped' };
  }

  private _widget(run: Run, cellId: string): CodeCell | null {
    const widget = run.panel.content.widgets.find(w => w.model.id === cellId);
    return widget instanceof CodeCell ? widget : null;
  }

  private readonly _runs = new Map<string, Run>();
}

/** As nbclient names it. */
const DEAD_KERNEL = 'DeadKernelError';

const EXPECTED_ERROR = 'The cell is tagged raises-exception.';

const STILL_RUNNING =
  'The code did not stop when it was interrupted, and is still running. Restart the kernel to end it.';

/** The exception that a cell ended with, as the kernel or the executor told it. */
function errorOf(
  reply: CellWatch['reply'],
  verdict: IOutcome['verdict']
): CellRunError | undefined {
  if (reply?.status === 'error') {
    const { ename, evalue, traceback } = reply;
    return { ename, evalue, traceback };
  }
  const error = verdict?.error;
  return error
    ? {
        ename: error.errorName ?? error.name,
        evalue: error.errorValue ?? error.message,
        traceback: error.traceback ?? []
      }
    : undefined;
}

function kernelFailure(message: string): CellRunError {
  return { ename: DEAD_KERNEL, evalue: message, traceback: [] };
}

/** A kernel that is gone ends the execution soon; it is not waited for without end. */
function executedOrLost(executed: Promise<void>): Promise<void> {
  return Promise.race([executed, sleep(1000)]);
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => window.setTimeout(resolve, ms));
}

/**
 * Tell other extensions, which show execution times and the like. JupyterLab itself does so only
 * for its own commands.
 */
function announce<T>(signal: ISignal<unknown, T>, args: T): void {
  if (signal instanceof Signal) {
    signal.emit(args);
  }
}
