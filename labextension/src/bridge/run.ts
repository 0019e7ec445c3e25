import { ISessionContext } from '@jupyterlab/apputils';
import { CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import { INotebookCellExecutor, NotebookPanel } from '@jupyterlab/notebook';
import { JSONObject, PromiseDelegate } from '@lumino/coreutils';

import { messageOf } from '../api/errors';
import {
  CellRun,
  PageProgress,
  PageRequestError,
  RunParams,
  RunResult
} from '../api';
import { indexOf, indicesOf, sharedNotebook } from '../notebook/cells';
import { hashSource } from '../notebook/edits/hash';
import { execute } from '../notebook/kernel/execute';
import { ExecutionTracker } from '../notebook/kernel/executions';
import { kernelFree, kernelReady } from '../notebook/kernel/kernel';
import { DEAD_KERNEL, deadKernel, runStatus } from '../notebook/kernel/outcome';
import { Saver } from '../notebook/save';
import { ShownDocuments } from '../notebook/shownDocuments';
import { RunObserver } from '../notebook/kernel/runObserver';

const EXPECTED_ERROR = 'The cell is tagged raises-exception.';

export type Progress = (
  cellId: string,
  state: PageProgress['state'],
  msgId?: string
) => void;

/** Which cell of a run, and where it is now. */
type Identity = Pick<CellRun, 'cellId' | 'index'>;

/** A run that goes on: the cells of one request of the server. */
class Run {
  constructor(
    readonly panel: NotebookPanel,
    readonly params: RunParams,
    readonly progress: Progress,
    private readonly _abandoned: AbortSignal
  ) {
    this.closed.promise.catch(() => undefined);
    if (params.held) {
      _abandoned.addEventListener('abort', this._onAbandoned);
      if (_abandoned.aborted) {
        this.stop();
      }
    } else {
      this.allow({});
    }
    panel.disposed.connect(this._onClosed, this);
  }

  get context(): ISessionContext {
    return this.panel.sessionContext;
  }

  /** Fulfilled when its cells may be sent to the kernel. */
  readonly allowed = new PromiseDelegate<void>();
  /** The hashes of the sources that may run, of the cells for which that was decided. */
  hashes: Readonly<Record<string, string>> = {};
  /** Fulfilled when somebody stopped the run. */
  readonly stopped = new PromiseDelegate<void>();
  isStopped = false;
  /** Whether a cell was sent to the kernel. */
  hasSent = false;
  /** The cell before which the run ended, since its source is not the one that may run. */
  changed: string | undefined;
  /** Rejected when the notebook's tab is closed; what runs in the kernel then goes on. */
  readonly closed = new PromiseDelegate<never>();
  /** The cell that runs or waits to be run. */
  current: ICodeCellModel | null = null;
  /** Fulfilled when nothing of the run goes on. */
  readonly ended = new PromiseDelegate<void>();

  allow(hashes: Readonly<Record<string, string>>): void {
    this.hashes = hashes;
    // What was sent to the kernel goes on there, whoever waits for it.
    this._abandoned.removeEventListener('abort', this._onAbandoned);
    this.allowed.resolve();
  }

  stop(): void {
    this.isStopped = true;
    this.stopped.resolve();
  }

  /** The promise's outcome, unless the notebook is closed before. */
  whileOpen<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.closed.promise]);
  }

  end(): void {
    this.panel.disposed.disconnect(this._onClosed, this);
    this._abandoned.removeEventListener('abort', this._onAbandoned);
    this.ended.resolve();
  }

  /** Nobody is left who could allow it. */
  private readonly _onAbandoned = (): void => this.stop();

  private _onClosed(): void {
    const message = 'The notebook was closed while its cells ran.';
    this.closed.reject(new PageRequestError('not_open', message));
    if (this.current && !this.current.isDisposed) {
      // Another view of the notebook may still show it.
      this.current.executionState = 'idle';
    }
  }
}

/**
 * Runs cells as a user would: through the page's own session, one after the other, so that
 * nothing of ours is in the kernel's queue behind the user's cells or when a run is stopped.
 *
 * The focus, the mode and the active cell stay where they are.
 */
export class Runner {
  constructor(
    private readonly _executions: ExecutionTracker,
    private readonly _saver: Saver,
    private readonly _executor: INotebookCellExecutor | null,
    private readonly _shown: Pick<ShownDocuments, 'has'>
  ) {}

  /**
   * Run the cells of a request; the notebook is saved at the end. Throws `not_open` when it is
   * closed before. A run that is held ends with nothing sent when `abandoned` is aborted.
   */
  async run(
    panel: NotebookPanel,
    params: RunParams,
    requestId: string,
    progress: Progress,
    abandoned: AbortSignal
  ): Promise<RunResult> {
    const notebook = sharedNotebook(panel);
    indicesOf(notebook, params.cellIds);
    const run = new Run(panel, params, progress, abandoned);
    this._runs.set(requestId, run);
    try {
      const runs = await this._runAll(run);
      await this._save(run, runs);
      return { runs, changed: run.changed };
    } finally {
      this._runs.delete(requestId);
      run.end();
    }
  }

  /** A run that was held may go on; nothing if it has ended. */
  allow(requestId: string, hashes: Readonly<Record<string, string>>): void {
    this._runs.get(requestId)?.allow(hashes);
  }

  /**
   * Stop a run: what waits is not run, and the kernel is interrupted only if it runs our request.
   * Fulfilled when nothing of the run goes on; at once if it has ended.
   */
  async interrupt(requestId: string): Promise<void> {
    const run = this._runs.get(requestId);
    if (run) {
      run.stop();
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
      if (run.changed !== undefined) {
        break;
      }
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
      await run.whileOpen(
        Promise.race([kernelReady(run.context), run.stopped.promise])
      );
    } catch (error) {
      const isFirst = before.length === 0;
      const isKnown = error instanceof PageRequestError;
      if (isFirst || !isKnown || error.code === 'not_open') {
        throw error;
      }
      // What ran before is to be reported.
      return { ...cell, ...deadKernel(error.message) };
    }
    if (!(await this._waitForTurn(run, cellId))) {
      return { ...cell, status: 'aborted', note: 'Not run: stopped.' };
    }
    return this._execute(run, cellId);
  }

  /**
   * Wait until the cell may run and the kernel has done what it was given before; false if the run
   * was stopped.
   */
  private async _waitForTurn(run: Run, cellId: string): Promise<boolean> {
    const { context } = run;
    this._executions.schedule(context, cellId);
    const model = this._widget(run, cellId)?.model as
      | ICodeCellModel
      | undefined;
    run.current = model ?? null;
    if (model) {
      model.executionState = 'running';
    }
    await run.whileOpen(
      Promise.race([run.allowed.promise, run.stopped.promise])
    );
    const given = run.whileOpen(run.stopped.promise).catch(() => undefined);
    await run.whileOpen(kernelFree(context, this._executions, given));
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
    const { hashes } = run;
    if (cellId in hashes && hashSource(source) !== hashes[cellId]) {
      // It was changed after it was allowed to run.
      run.changed = cellId;
      this._executions.unschedule(run.context, cellId);
      widget.model.executionState = 'idle';
      return { ...this._identify(run, cellId), status: 'skipped' };
    }
    const watch = new RunObserver(
      this._executions,
      run.context,
      cellId,
      source
    );
    const { timeoutMs, metadata } = run.params;
    run.hasSent = true;
    try {
      const executed = execute({
        panel: run.panel,
        cell: widget,
        watch,
        executor: this._executor,
        shown: this._shown,
        timeoutMs,
        metadata: metadata as JSONObject,
        source: cellId in hashes ? source : null,
        stopped: run.stopped.promise,
        onStarted: () => run.progress(cellId, 'started', watch.msgId),
        onInput: isWaiting => {
          const state = isWaiting ? 'waiting_for_input' : 'started';
          run.progress(cellId, state, watch.msgId);
        }
      });
      const outcome = await run.whileOpen(executed);
      run.progress(cellId, 'finished');
      const count = outcome.reply?.execution_count;
      return this._result(run, {
        cellId,
        ...runStatus(outcome, timeoutMs),
        executionCount: count ?? undefined
      });
    } finally {
      watch.dispose();
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

  private async _save(run: Run, runs: CellRun[]): Promise<void> {
    const last = runs[runs.length - 1];
    if (!last || !run.hasSent) {
      return;
    }
    try {
      await this._saver.save(run.panel.context);
    } catch (error) {
      if (run.panel.isDisposed) {
        await run.closed.promise;
      }
      const why = messageOf(error);
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
