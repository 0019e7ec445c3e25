import type { Cell, ICellModel } from '@jupyterlab/cells';
import type { CellList, Notebook } from '@jupyterlab/notebook';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

type Changed =
  CellList['changed'] extends ISignal<CellList, infer Args> ? Args : never;

/** How long it is known where a cell was that is gone, in ms. */
const KNOWN_MS = 10_000;

/** Where a cell was: after the cell with this id; null at the start. */
interface IGone {
  after: string | null;
  at: number;
}

/**
 * The cells of a notebook by id, and where those were that are just gone: kept up with each change,
 * so that no change costs a look at all cells.
 */
export class CellIndex implements IDisposable {
  constructor(private readonly _notebook: Notebook) {
    this._cells = _notebook.model!.cells;
    this._add(0, [...this._cells]);
    // The notebook's own listener came first: the widgets are there.
    this._cells.changed.connect(this._onChanged, this);
  }

  /** A cell is new, or was made anew. */
  get added(): ISignal<this, string> {
    return this._added;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      Signal.clearData(this);
    }
  }

  cell(id: string): Cell | undefined {
    return this._byId.get(id);
  }

  first(): Cell | undefined {
    return this._byId.get(this._order[0]);
  }

  /** Whether the cell was removed in the last seconds. */
  isJustGone(id: string): boolean {
    const gone = this._gone.get(id);
    return gone !== undefined && performance.now() - gone.at < KNOWN_MS;
  }

  /** The cell after which one was that is gone; null at the start. */
  before(id: string): Cell | null {
    let gone = this._gone.get(id);
    while (gone?.after) {
      const cell = this._byId.get(gone.after);
      if (cell) {
        return cell;
      }
      gone = this._gone.get(gone.after);
    }
    return null;
  }

  private _onChanged(_: CellList, change: Changed): void {
    if (change.type === 'add') {
      this._add(change.newIndex, change.newValues);
    } else if (change.type === 'remove') {
      this._remove(change.oldIndex, change.oldValues.length);
    }
  }

  private _add(index: number, models: readonly ICellModel[]): void {
    this._order.splice(index, 0, ...models.map(({ id }) => id));
    models.forEach(({ id }, offset) => {
      this._byId.set(id, this._notebook.widgets[index + offset]);
      this._gone.delete(id);
      this._added.emit(id);
    });
  }

  private _remove(index: number, count: number): void {
    const at = performance.now();
    for (const [id, gone] of this._gone) {
      if (at - gone.at > KNOWN_MS) {
        this._gone.delete(id);
      }
    }
    const after = this._order[index - 1] ?? null;
    for (const id of this._order.splice(index, count)) {
      this._byId.delete(id);
      this._gone.set(id, { after, at });
    }
  }

  private readonly _cells: CellList;
  private readonly _order: string[] = [];
  private readonly _byId = new Map<string, Cell>();
  private readonly _gone = new Map<string, IGone>();
  private readonly _added = new Signal<this, string>(this);
  private _isDisposed = false;
}
