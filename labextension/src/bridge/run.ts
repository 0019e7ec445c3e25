import { ISessionContext } from '@jupyterlab/apputils';
import { CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import { INotebookCellExecutor, NotebookPanel } from '@jupyterlab/notebook';
import { PromiseDelegate } from '@lumino/coreutils';

import {
  CellRun,
  PageProgress,
  PageRequestError,
  RunParams,
  RunResult
} from '../api';
import { indexOf, indicesOf, keepIds, sharedNotebook } from './cells';
import { execute } from './execute';
import { ExecutionTracker } from './executions';
import { kernelFree, kernelReady } from './kernel';
import { DEAD_KERNEL, deadKernel, judge } from './outcome';
import { Saver } from './save';
import { CellWatch } from './watch';

const EXPECTED_ERROR = 'The cell is tagged raises-exception.';

export type Progress = (cellId: string, state: PageProgress['state']) => void;

/** Which cell of a run, and where it is now. */
type Identity = Pick<CellRun, 'cellId' | 'index'>;

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
      return this._deleted(cell);
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
      await Promise.race([kernelReady(run.context), run.stopped.promise]);
    } catch (error) {
      if (before.length === 0 || !(error instanceof PageRequestError)) {
        throw error;
      }
      // What ran before is to be told.
      return { ...cell, ...deadKernel(error.message) };
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
      return this._deleted(this._identify(run, cellId));
    }
    const source = widget.model.sharedModel.getSource();
    const watch = new CellWatch(this._executions, run.context, cellId, source);
    const { timeoutMs } = run.params;
    try {
      const outcome = await execute({
        panel: run.panel,
        cell: widget,
        watch,
        executor: this._executor,
        timeoutMs,
        stopped: run.stopped.promise,
        onStarted: () => run.progress(cellId, 'started')
      });
      const count = outcome.reply?.execution_count;
      return this._result(run, {
        cellId,
        ...judge(outcome, timeoutMs),
        executionCount: count ?? undefined
      });
    } finally {
      watch.dispose();
      run.progress(cellId, 'finished');
    }
  }

  /** A run of a cell with what the document and the tracker know of it. */
  private _result(run: Run, ended: CellRun): CellRun {
    const { index } = this._identify(run, ended.cellId);
    if (index === undefined) {
      return {
        ...ended,
        outputs: [],
        note: 'The cell was deleted while it ran.'
      };
    }
    const known = this._executions.get(run.context, ended.cellId);
    const result: CellRun = {
      ...ended,
      index,
      executionCount: ended.executionCount ?? known?.order,
      durationMs: known?.durationMs,
      outputs: []
    };
    const shared = sharedNotebook(run.panel).cells[index];
    if (shared.cell_type === 'code') {
      result.outputs = shared.getOutputs() as CellRun['outputs'];
      const tags = shared.getMetadata('tags');
      const isExpected =
        Array.isArray(tags) && tags.includes('raises-exception');
      if (result.status === 'error' && isExpected) {
        result.note = EXPECTED_ERROR;
      }
    }
    return result;
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

  private _identify(run: Run, cellId: string): Identity {
    const model = run.panel.content.model;
    const index = model ? indexOf(sharedNotebook(run.panel), cellId) : -1;
    return { cellId, index: index < 0 ? undefined : index };
  }

  private _deleted(cell: Identity): CellRun {
    return { ...cell, status: 'aborted', note: 'The cell was deleted.' };
  }

  private _widget(run: Run, cellId: string): CodeCell | null {
    const widget = run.panel.content.widgets.find(w => w.model.id === cellId);
    return widget instanceof CodeCell ? widget : null;
  }

  private readonly _runs = new Map<string, Run>();
}
