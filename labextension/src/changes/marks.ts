import type { Cell } from '@jupyterlab/cells';
import { IDisposable } from '@lumino/disposable';

import type { CellIndex } from './cellIndex';
import type { ChangeOp } from './source';

const LABELS: Partial<Record<ChangeOp, string>> = {
  insert: 'Added by the agent',
  move: 'Moved by the agent'
};

interface IMark {
  cell: Cell;
  node: HTMLElement;
  op: ChangeOp;
}

/**
 * A bar at the edge of each cell that the agent changed. It hangs on the cell's widget, whether
 * the notebook has that on the page just now or not.
 */
export class CellMarks implements IDisposable {
  constructor(private readonly _index: CellIndex) {
    _index.added.connect(this._onAdded, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this.show(new Map());
      this._isDisposed = true;
      this._index.added.disconnect(this._onAdded, this);
    }
  }

  /** Mark these cells and no others. */
  show(changed: ReadonlyMap<string, ChangeOp>): void {
    this._changed = changed;
    for (const id of this._marks.keys()) {
      if (!changed.has(id)) {
        this._remove(id);
      }
    }
    for (const id of changed.keys()) {
      this._mark(id);
    }
  }

  private _onAdded(_: CellIndex, id: string): void {
    if (this._changed.has(id)) {
      this._mark(id);
    }
  }

  private _mark(id: string): void {
    const cell = this._index.cell(id);
    const op = this._changed.get(id)!;
    const mark = this._marks.get(id);
    if (mark && mark.cell === cell && mark.op === op) {
      return;
    }
    this._remove(id);
    if (cell) {
      const node = makeMark(op);
      cell.node.append(node);
      this._marks.set(id, { cell, node, op });
    }
  }

  private _remove(id: string): void {
    this._marks.get(id)?.node.remove();
    this._marks.delete(id);
  }

  private _changed: ReadonlyMap<string, ChangeOp> = new Map();
  private readonly _marks = new Map<string, IMark>();
  private _isDisposed = false;
}

/** The mark itself; `what` is what the user had asked for. */
export function makeMark(op: ChangeOp, what = ''): HTMLElement {
  const node = document.createElement('div');
  const label = `${LABELS[op] ?? 'Changed by the agent'}${what && `: “${what}”`}`;
  node.className = 'da-mark';
  node.dataset.testid = 'da-mark';
  node.dataset.op = op;
  node.setAttribute('role', 'img');
  node.setAttribute('aria-label', label);
  node.title = label;
  return node;
}
