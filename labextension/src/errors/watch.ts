import { Cell, CodeCell } from '@jupyterlab/cells';
import { CellList, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';

import { isAgentsRun } from '../notebook/kernel/agentRuns';
import { ErrorBar } from './bar';
import { failureOf, IFailure } from '../notebook/kernel/failure';
import { insertInCell } from '../notebook/insertInCell';

/** What is done about the error of a cell. */
export interface IErrorActions {
  fix(panel: NotebookPanel, cell: CodeCell, andRun: boolean): void;
  explain(panel: NotebookPanel, cell: CodeCell): void;
  /** A hint on the error of a cell that the user ran, or had when the notebook was opened. */
  hint(panel: NotebookPanel, cell: CodeCell): Promise<string>;
}

/** What of a run is looked at. */
interface IExecuted {
  cell: Cell;
  success: boolean;
}

/** Give each cell of a notebook that shows an error its bar, as long as it shows it. */
export function watchErrors(
  panel: NotebookPanel,
  actions: IErrorActions
): void {
  const { content } = panel;
  const seen = new WeakMap<Cell, CellErrors>();
  let isDue = false;
  const refresh = () => {
    isDue = false;
    for (const cell of content.isDisposed ? [] : content.widgets) {
      if (cell instanceof CodeCell && !seen.has(cell)) {
        const errors = new CellErrors(panel, cell, actions);
        seen.set(cell, errors);
        errors.start();
      }
    }
  };
  const soon = () => {
    if (!isDue) {
      isDue = true;
      // The widgets of new cells come after their models.
      queueMicrotask(refresh);
    }
  };
  const onExecuted = (_: unknown, { cell, success }: IExecuted) => {
    if (!success && !isAgentsRun(cell)) {
      void seen.get(cell)?.hint();
    }
  };
  NotebookActions.executed.connect(onExecuted);
  // The notebook's own signal comes for each key that is typed, too.
  let cells: CellList | undefined;
  const follow = () => {
    cells?.changed.disconnect(soon);
    cells = content.model?.cells;
    cells?.changed.connect(soon);
    soon();
  };
  content.modelChanged.connect(follow);
  content.disposed.connect(() => {
    // The model may be that of another view too, and outlive this one.
    cells?.changed.disconnect(soon);
    NotebookActions.executed.disconnect(onExecuted);
  });
  follow();
}

/** The bar of one cell. */
class CellErrors {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _cell: CodeCell,
    private readonly _actions: IErrorActions
  ) {}

  start(): void {
    const { outputs } = this._cell.model;
    outputs.changed.connect(this._soon, this);
    // The cell's model may be that of another view too, and outlive this one.
    this._cell.disposed.connect(() =>
      outputs.changed.disconnect(this._soon, this)
    );
    void this.hint();
  }

  /** Look for a hint on the error. */
  async hint(): Promise<void> {
    this._update(failureOf(this._cell.model));
    const text = this._shown;
    if (text === null) {
      return;
    }
    // Nobody asked: without it there is one thing less to read.
    const hint = await this._actions
      .hint(this._panel, this._cell)
      .catch(() => '');
    if (this._shown === text) {
      this._hint = hint;
      this._bar?.hint(hint);
    }
  }

  /** A run clears the outputs and fills them again: what counts is how they are after that. */
  private _soon(): void {
    if (!this._isDue) {
      this._isDue = true;
      queueMicrotask(() => {
        this._isDue = false;
        if (!this._cell.isDisposed) {
          this._update(failureOf(this._cell.model));
        }
      });
    }
  }

  private _update(failure: IFailure | null): void {
    const { _cell: cell } = this;
    const text = failure && `${failure.name}: ${failure.message}`;
    if (text === this._shown) {
      return;
    }
    this._shown = text;
    this._removeBar();
    if (failure) {
      void this._show(failure, text!);
    }
    cell.toggleClass('da-mod-failed', failure !== null);
  }

  private async _show(failure: IFailure, text: string): Promise<void> {
    const { _cell: cell, _panel: panel, _actions: actions } = this;
    this._hint = '';
    // A cell that was never on the screen is not drawn yet.
    await cell.ready;
    if (cell.isDisposed || this._shown !== text) {
      return;
    }
    const bar = new ErrorBar(failure, {
      fix: () => actions.fix(panel, cell, false),
      fixAndRun: () => actions.fix(panel, cell, true),
      explain: () => actions.explain(panel, cell)
    });
    bar.hint(this._hint);
    insertInCell(cell, 'below-outputs', bar);
    this._bar = bar;
  }

  private _removeBar(): void {
    const bar = this._bar;
    this._bar = null;
    if (bar?.node.contains(document.activeElement)) {
      this._cell.node.focus({ preventScroll: true });
    }
    bar?.dispose();
  }

  private _bar: ErrorBar | null = null;
  private _shown: string | null = null;
  private _hint = '';
  private _isDue = false;
}
