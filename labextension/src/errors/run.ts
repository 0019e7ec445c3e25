import type { ISessionContext } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { CodeCell } from '@jupyterlab/cells';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';

import { KernelMessage } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';

import { asAgent } from '../notebook/kernel/agentRuns';
import { failureOf, wasInterrupted } from '../notebook/kernel/failure';

/** How a run ended. */
export type RunEnd = 'ok' | 'failed' | 'interrupted' | 'not run';

/**
 * Run cells in this order, as JupyterLab does for the user, and see how it ended for one of them.
 * Where one before it fails, that one is not run. `onStart` is given what interrupts the run.
 */
export async function runFor(
  panel: NotebookPanel,
  cell: CodeCell,
  cellIds: readonly string[],
  onStart: (interrupt: () => void) => void
): Promise<RunEnd> {
  const { content, sessionContext } = panel;
  const cells = cellIds.flatMap(
    cellId => content.widgets.find(({ model }) => model.id === cellId) ?? []
  );
  const interrupter = new Interrupter(sessionContext, cells);
  onStart(() => interrupter.interrupt());
  let isOk;
  try {
    isOk = await asAgent(cells, () =>
      NotebookActions.runCells(content, cells, sessionContext)
    );
  } finally {
    interrupter.dispose();
  }
  if (cell.isDisposed) {
    return 'not run';
  }
  if (isOk && !failureOf(cell.model)) {
    return 'ok';
  }
  if (cells.some(wasInterrupted)) {
    return 'interrupted';
  }
  return failureOf(cell.model) ? 'failed' : 'not run';
}

/**
 * Interrupts the kernel while it runs one of these cells, or as soon as it does: what else it runs
 * before is not meant.
 */
class Interrupter implements IDisposable {
  constructor(
    private readonly _context: ISessionContext,
    cells: readonly Cell[]
  ) {
    this._sources = new Set(
      cells.map(({ model }) => model.sharedModel.getSource())
    );
    _context.iopubMessage.connect(this._onMessage, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._context.iopubMessage.disconnect(this._onMessage, this);
  }

  interrupt(): void {
    this._isWanted = true;
    this._look();
  }

  private _onMessage(
    _: ISessionContext,
    message: KernelMessage.IMessage
  ): void {
    if (KernelMessage.isExecuteInputMsg(message)) {
      this._isOurs = this._sources.has(message.content.code);
      this._look();
    }
  }

  private _look(): void {
    if (this._isWanted && this._isOurs && !this._isDisposed) {
      this._isOurs = false;
      void this._context.session?.kernel?.interrupt();
    }
  }

  private readonly _sources: ReadonlySet<string>;
  private _isWanted = false;
  private _isOurs = false;
  private _isDisposed = false;
}
