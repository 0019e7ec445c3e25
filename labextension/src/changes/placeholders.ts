import { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import { insertInCell } from '../notebook/insertInCell';
import type { CellIndex } from './cellIndex';
import { IPending, IPendingTurn, isRunning } from './pending';

/** How long a placeholder is shown, counted from when the cell can be had back, in ms. */
const SHOWN_MS = 10_000;

/** Gives removed cells of a turn back. */
export type GiveBack = (turn: IPendingTurn, cellIds: string[]) => void;

/** Placeholders where the agent removed cells, for a moment. */
export class Placeholders implements IDisposable {
  constructor(
    private readonly _index: CellIndex,
    private readonly _giveBack: GiveBack
  ) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._notes.forEach(note => note.dispose());
    this._notes.clear();
  }

  /** Show what was removed just now; nothing is shown any more for what was decided on. */
  show({ turns }: IPending): void {
    const removed = new Map<string, IPendingTurn>();
    for (const turn of turns) {
      for (const { op, cellId } of turn.changes) {
        if (op === 'delete' && cellId && !this._index.cell(cellId)) {
          removed.set(cellId, turn);
          this._place(turn, cellId);
        }
      }
    }
    for (const id of this._known) {
      if (!removed.has(id)) {
        this._known.delete(id);
      }
    }
    for (const [key, note] of this._notes) {
      note.show(removed);
      if (note.isDisposed) {
        this._notes.delete(key);
      }
    }
  }

  /** A placeholder for cells that stood at the same place and that the same turn removed. */
  private _place(turn: IPendingTurn, cellId: string): void {
    if (this._known.has(cellId) || !this._index.isJustGone(cellId)) {
      return;
    }
    this._known.add(cellId);
    const before = this._index.before(cellId);
    const key = `${turn.turnId}\n${before?.model.id ?? ''}`;
    let note = this._notes.get(key);
    if (!note || note.isDisposed) {
      const anchor = before ?? this._index.first();
      if (!anchor) {
        return;
      }
      note = new Placeholder(ids => this._giveBack(turn, ids));
      insertInCell(anchor, before ? 'bottom' : 'top', note.widget);
      this._notes.set(key, note);
    }
    note.add(cellId);
  }

  private readonly _known = new Set<string>();
  private readonly _notes = new Map<string, Placeholder>();
  private _isDisposed = false;
}

/** "Cell removed · Undo". */
export class Placeholder implements IDisposable {
  constructor(
    giveBack: (ids: string[]) => void,
    private readonly _noun: 'cell' | 'block' = 'cell'
  ) {
    const { node } = this.widget;
    this.widget.addClass('da-removed-cell');
    node.dataset.testid = 'da-removed-cell';
    node.setAttribute('role', 'status');
    this._button.type = 'button';
    this._button.className = 'da-nb-button';
    this._button.textContent = 'Undo';
    this._button.addEventListener('click', () => giveBack([...this._ids]));
    node.append(this._label, this._button);
    // Who is about to press the button has time for it.
    for (const type of ['pointerenter', 'focusin']) {
      node.addEventListener(type, () => clearTimeout(this._timer));
    }
    for (const type of ['pointerleave', 'focusout']) {
      node.addEventListener(type, () => this._count());
    }
  }

  readonly widget = new Widget();

  get isDisposed(): boolean {
    return this.widget.isDisposed;
  }

  dispose(): void {
    clearTimeout(this._timer);
    this.widget.dispose();
  }

  add(id: string): void {
    this._ids.add(id);
    this._isCounting = false;
  }

  /** Show what of it is still to be decided on; nothing goes on when nothing is. */
  show(open: ReadonlyMap<string, IPendingTurn>): void {
    let isLater = false;
    for (const id of this._ids) {
      const turn = open.get(id);
      if (!turn) {
        this._ids.delete(id);
      } else {
        isLater = isRunning(turn.session);
      }
    }
    const { size } = this._ids;
    if (!size || this.isDisposed) {
      this.dispose();
      return;
    }
    const noun = this._noun === 'cell' ? 'Cell' : 'Block';
    const label =
      size === 1 ? `${noun} removed` : `${size} ${this._noun}s removed`;
    if (this._label.textContent !== label) {
      this._label.textContent = label;
    }
    this._button.hidden = isLater;
    if (!isLater && !this._isCounting) {
      this._isCounting = true;
      this._count();
    }
  }

  private _count(): void {
    clearTimeout(this._timer);
    if (this._isCounting) {
      this._timer = setTimeout(() => this.dispose(), SHOWN_MS);
    }
  }

  private readonly _ids = new Set<string>();
  private readonly _label = document.createElement('span');
  private readonly _button = document.createElement('button');
  private _isCounting = false;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
