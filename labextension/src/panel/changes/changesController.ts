import { ISignal, Signal } from '@lumino/signaling';

import { messageOf } from '../../api/errors';
import { Event, Op } from '../../api/types';
import { SubmitOp } from '../plan/planController';
import { keptLabel } from '../../session/undoLabels';
import { Observable } from '../../session/observable';

/** How long a decision may be under way before it can be made again, in ms. */
const TIMEOUT_MS = 15_000;

/** A cell, or without an id a document as a whole. */
interface IPlace {
  path: string;
  cellId?: string;
}

/** The part of an op that names it. */
function only({ path, cellId }: IPlace): {
  cellIds: string[];
  paths?: string[];
} {
  return cellId ? { cellIds: [cellId] } : { cellIds: [''], paths: [path] };
}

/** The user's decisions on what turns changed: keep, or take back. */
export class ChangesController {
  constructor(
    private readonly _submit: SubmitOp,
    private readonly _notify: (level: 'error' | 'info', message: string) => void
  ) {}

  /** The turn about which a decision is under way. */
  readonly deciding = new Observable<string | null>(null);

  /** Settle what a turn changed, or only some cells of it. */
  keep(turnId: string, cellIds?: string[]): void {
    this._decide(turnId, { type: 'keep', turnId, cellIds });
  }

  /** Take it back; with `overwrite`, also in cells that were changed since. */
  undo(turnId: string, cellIds?: string[], overwrite = false): void {
    this._decide(turnId, { type: 'undo', turnId, cellIds, overwrite });
  }

  /** Settle one cell, or a document as a whole. */
  keepOne(turnId: string, one: IPlace): void {
    this._decide(turnId, { type: 'keep', turnId, ...only(one) });
  }

  /** Take one of them back. */
  undoOne(turnId: string, one: IPlace, overwrite = false): void {
    this._decide(turnId, { type: 'undo', turnId, ...only(one), overwrite });
  }

  /** The user wants to see the whole diff of a turn. */
  get diffWanted(): ISignal<this, string> {
    return this._diffWanted;
  }

  /** Show the whole diff of a turn. */
  showDiff(turnId: string): void {
    this._diffWanted.emit(turnId);
  }

  /** Whether an undo of this turn was asked for here, not in another tab or before a reload. */
  isOwn(turnId: string): boolean {
    return this._last === turnId;
  }

  /** Say what became of a decision that was made here. */
  onEvent(event: Event): void {
    const turnId = this.deciding.current;
    if (turnId === null) {
      return;
    }
    if (event.type === 'changes_undone' && event.ofTurnId === turnId) {
      // The turn has what was done.
      const left = keptLabel(event.conflicts);
      if (left) {
        this._notify('info', left);
      }
    }
    const isAnswer =
      (event.type === 'changes_undone' || event.type === 'changes_kept') &&
      event.ofTurnId === turnId;
    if (isAnswer || (event.type === 'error' && !event.turnId)) {
      this._over();
    }
  }

  private _decide(turnId: string, op: Op): void {
    if (this.deciding.current !== null) {
      return;
    }
    this.deciding.set(turnId);
    this._last = turnId;
    this._timer = setTimeout(() => this._over(), TIMEOUT_MS);
    this._submit(op).catch((error: unknown) => {
      this._over();
      this._notify('error', messageOf(error));
    });
  }

  private _over(): void {
    clearTimeout(this._timer);
    this.deciding.set(null);
  }

  private readonly _diffWanted = new Signal<this, string>(this);
  private _last: string | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
