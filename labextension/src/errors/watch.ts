import { Cell, CodeCell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { PanelLayout } from '@lumino/widgets';

import { ErrorBar } from './bar';
import { failureOf, IFailure } from './failure';

/** What is done about the error of a cell. */
export interface IErrorDesk {
  fix(panel: NotebookPanel, cell: CodeCell, andRun: boolean): void;
  explain(panel: NotebookPanel, cell: CodeCell): void;
  /** A cell shows an error that it did not show before: words on it may come later. */
  appeared(
    panel: NotebookPanel,
    cell: CodeCell,
    say: (words: string) => void
  ): void;
}

/** Give each cell of a notebook that shows an error its bar, as long as it shows it. */
export function watchErrors(panel: NotebookPanel, desk: IErrorDesk): void {
  const { content } = panel;
  const seen = new WeakSet<Cell>();
  let isDue = false;
  const look = () => {
    isDue = false;
    for (const cell of content.isDisposed ? [] : content.widgets) {
      if (cell instanceof CodeCell && !seen.has(cell)) {
        seen.add(cell);
        new CellErrors(panel, cell, desk).start();
      }
    }
  };
  const soon = () => {
    if (!isDue) {
      isDue = true;
      // The widgets of new cells come after their models.
      queueMicrotask(look);
    }
  };
  content.modelContentChanged.connect(soon);
  content.modelChanged.connect(soon);
  soon();
}

/** The bar of one cell. */
class CellErrors {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _cell: CodeCell,
    private readonly _desk: IErrorDesk
  ) {}

  start(): void {
    this._cell.model.outputs.changed.connect(this._soon, this);
    this._soon();
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
    const { _cell: cell, _panel: panel, _desk: desk } = this;
    const text = failure && `${failure.name}: ${failure.message}`;
    if (text === this._shown) {
      return;
    }
    this._shown = text;
    this._takeAway();
    if (failure) {
      void this._show(failure, text!);
    }
    cell.toggleClass('da-mod-failed', failure !== null);
    if (failure) {
      desk.appeared(panel, cell, words => {
        if (this._shown === text) {
          this._words = words;
          this._bar?.hint(words);
        }
      });
    }
  }

  private async _show(failure: IFailure, text: string): Promise<void> {
    const { _cell: cell, _panel: panel, _desk: desk } = this;
    this._words = '';
    // A cell that was never on the screen is not drawn yet.
    await cell.ready;
    if (cell.isDisposed || this._shown !== text) {
      return;
    }
    const bar = new ErrorBar(failure, {
      fix: () => desk.fix(panel, cell, false),
      fixAndRun: () => desk.fix(panel, cell, true),
      explain: () => desk.explain(panel, cell)
    });
    bar.hint(this._words);
    const layout = cell.layout as PanelLayout;
    const outputs = layout.widgets.findIndex(widget =>
      widget.hasClass('jp-Cell-outputWrapper')
    );
    layout.insertWidget(outputs + 1, bar);
    this._bar = bar;
  }

  private _takeAway(): void {
    const bar = this._bar;
    this._bar = null;
    if (bar?.node.contains(document.activeElement)) {
      this._cell.node.focus({ preventScroll: true });
    }
    bar?.dispose();
  }

  private _bar: ErrorBar | null = null;
  private _shown: string | null = null;
  private _words = '';
  private _isDue = false;
}
