import type { YNotebook } from '@jupyter/ydoc';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { IDisposable } from '@lumino/disposable';

import { findAgain, presentId } from '../notebook/cellNames';
import { namesAnew } from '../notebook/cells';
import { CellIndex } from './cellIndex';
import type { DocumentBar, IDocumentBarOptions } from './documentBar';
import type { IDocumentChanges } from './documentChanges';
import { CellMarks } from './marks';
import {
  canDecide,
  cellIdsOf,
  IPending,
  IPendingTurn,
  isRunning,
  NOTHING_PENDING,
  Pending,
  pendingLabel,
  recordedIn
} from './pending';
import { Placeholders } from './placeholders';

/** What the changes in a notebook need of the page. */
export interface INotebookChangesOptions {
  panel: NotebookPanel;
  pending: Pending;
  /** The notebook's path under the server's root; null for one that is elsewhere. */
  path: () => string | null;
  showDiff: (turn: IPendingTurn) => void;
  openPanel: () => void;
}

/** What the agent changed in an open notebook: marks, placeholders and the bar. */
export class NotebookChanges implements IDocumentChanges, IDisposable {
  constructor(private readonly _options: INotebookChangesOptions) {
    const { panel, pending } = _options;
    this._index = new CellIndex(panel.content);
    this._marks = new CellMarks(this._index);
    this._placeholders = new Placeholders(
      this._index,
      ({ session, turnId }, cellIds) => {
        this._leave();
        session.decider.undo(turnId, cellIds);
      }
    );
    this._index.added.connect(this._onAdded, this);
    pending.changed.connect(this._update, this);
    panel.context.pathChanged.connect(this._update, this);
    panel.disposed.connect(this.dispose, this);
    this._update();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._options.pending.changed.disconnect(this._update, this);
    this._options.panel.context.pathChanged.disconnect(this._update, this);
    this._marks.dispose();
    this._placeholders.dispose();
    this._index.dispose();
    this._bar?.dispose();
  }

  /** What waits for a decision here. */
  get pending(): IPending {
    return this._pending;
  }

  get hasMarks(): boolean {
    return this._pending.cells.size > 0;
  }

  /** Whether a decision can be made now. */
  get canDecide(): boolean {
    const [newest] = this._pending.turns;
    return newest !== undefined && canDecide(newest.session);
  }

  /** The changes of the newest turn stay. */
  keep(): void {
    this._decide('keep');
  }

  /** Take the changes of the newest turn back. */
  undo(): void {
    this._decide('undo');
  }

  /** Make the next changed cell the active one, or with -1 the one before; after the last the first. */
  async move(by: 1 | -1): Promise<void> {
    const { content } = this._options.panel;
    const { widgets, activeCellIndex } = content;
    const { cells } = this._pending;
    for (let step = 1; step <= widgets.length; step++) {
      const index =
        (activeCellIndex + by * step + step * widgets.length) % widgets.length;
      if (cells.has(widgets[index].model.id)) {
        content.deselectAll();
        content.activeCellIndex = index;
        await content.scrollToItem(index, 'smart');
        return;
      }
    }
  }

  private _decide(how: 'keep' | 'undo'): void {
    if (this.canDecide) {
      const [newest] = this._pending.turns;
      this._leave();
      newest.session.decider[how](newest.turnId, cellIdsOf(newest));
    }
  }

  private _update(): void {
    const { pending, path } = this._options;
    const here = path();
    this._pending =
      here === null ? NOTHING_PENDING : this._named(here, pending.of(here));
    this._marks.show(this._pending.cells);
    this._placeholders.show(this._pending);
    void this._showBar();
  }

  /** The same with the ids that the cells have in the page. */
  private _named(path: string, pending: IPending): IPending {
    const { model } = this._options.panel.content;
    const notebook = model?.sharedModel as YNotebook | undefined;
    if (!notebook || !namesAnew(notebook, path)) {
      return pending;
    }
    findAgain(notebook, recordedIn(pending));
    const cells = new Map(
      [...pending.cells].map(([id, op]) => [presentId(notebook, id), op])
    );
    return { ...pending, cells };
  }

  /** Cells are there; all have other ids where the notebook was loaded again. */
  private _onAdded(): void {
    if (this._pending.cells.size && !this._isFinding) {
      this._isFinding = true;
      queueMicrotask(() => {
        this._isFinding = false;
        if (!this._isDisposed) {
          this._update();
        }
      });
    }
  }

  private async _showBar(): Promise<void> {
    if (!this._pending.turns.length) {
      this._hideBar();
      return;
    }
    if (!this._bar) {
      const { DocumentBar } = await import('./documentBar');
      if (this._isDisposed || this._bar || !this._pending.turns.length) {
        return;
      }
      this._bar = new DocumentBar('notebook', this, this._barOptions);
      this._keepingPlace(bar =>
        this._options.panel.contentHeader.addWidget(bar)
      );
    } else {
      this._bar.options = this._barOptions;
    }
  }

  private _hideBar(): void {
    if (this._bar) {
      this._leave();
      this._keepingPlace(bar => bar.dispose());
      this._bar = null;
    }
  }

  /** What is on the screen stays where it is when the bar comes or goes. */
  private _keepingPlace(change: (bar: DocumentBar) => void): void {
    const { outerNode } = this._options.panel.content;
    const { top } = outerNode.getBoundingClientRect();
    change(this._bar!);
    requestAnimationFrame(() => {
      if (!this._isDisposed && outerNode.scrollTop > 0) {
        outerNode.scrollTop += outerNode.getBoundingClientRect().top - top;
      }
    });
  }

  /** What has the focus may be about to go: the keyboard is then in the notebook. */
  private _leave(): void {
    const { panel } = this._options;
    const active = document.activeElement;
    if (
      active?.closest('.da-nb-changes, .da-removed-cell') &&
      panel.node.contains(active)
    ) {
      panel.content.node.focus();
    }
  }

  private get _barOptions(): IDocumentBarOptions {
    const { showDiff, openPanel } = this._options;
    const [{ session, changes, conflicts }] = this._pending.turns;
    const { count, more } = pendingLabel(this._pending);
    const isLeft = conflicts > 0 && conflicts >= changes.length;
    return {
      label: isLeft
        ? `${conflicts === 1 ? '1 cell' : `${conflicts} cells`} changed since`
        : count,
      more,
      isLeft,
      isRunning: isRunning(session),
      isBusy: session.decider.deciding.current !== null,
      showDiff: () => showDiff(this._pending.turns[0]),
      openPanel
    };
  }

  private readonly _index: CellIndex;
  private readonly _marks: CellMarks;
  private readonly _placeholders: Placeholders;
  private _pending = NOTHING_PENDING;
  private _bar: DocumentBar | null = null;
  private _isFinding = false;
  private _isDisposed = false;
}
