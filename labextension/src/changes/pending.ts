import { ISignal, Signal } from '@lumino/signaling';

import type { Change } from '../api/types';
import type { IRecordedCell } from '../notebook/cellNames';
import { openChanges } from '../session/reduceDecided';
import type { ITurn } from '../session/turn';
import type { ISessionOnPage, SessionsOnPage } from './sessionsOnPage';
import type { ChangeOp } from './source';

/** What of one turn nobody has decided on, in one notebook. */
export interface IPendingTurn {
  readonly turnId: string;
  readonly session: ISessionOnPage;
  readonly changes: readonly Change[];
  /** Whether the turn has nothing to decide on elsewhere. */
  readonly isAll: boolean;
  /** Cells that an undo left as they are, and that wait for the user in the panel. */
  readonly conflicts: number;
}

/** What nobody has decided on in a notebook. */
export interface IPending {
  /** The newest first. */
  readonly turns: readonly IPendingTurn[];
  /** The cells that are there, by id. */
  readonly cells: ReadonlyMap<string, ChangeOp>;
}

export const NOTHING_PENDING: IPending = { turns: [], cells: new Map() };

/** A turn of which something waits for a decision. */
export interface IOpenTurn {
  readonly turn: ITurn;
  readonly session: ISessionOnPage;
}

/** What of these turns, the newest first, is about one notebook. */
export function pendingIn(open: readonly IOpenTurn[], path: string): IPending {
  const turns: IPendingTurn[] = [];
  const cells = new Map<string, ChangeOp>();
  const gone = new Set<string>();
  for (const { turn, session } of open) {
    const all = openChanges(turn);
    const changes = all.filter(change => change.path === path);
    if (!changes.length) {
      continue;
    }
    turns.push({
      turnId: turn.id,
      session,
      changes,
      isAll: changes.length === all.length,
      conflicts: turn.conflicts.filter(each => each.path === path).length
    });
    for (const { op, cellId } of changes) {
      if (!cellId || gone.has(cellId)) {
        continue;
      }
      if (op === 'delete' && !cells.has(cellId)) {
        gone.add(cellId);
      } else if (op === 'insert' || !cells.has(cellId)) {
        // Added by an earlier turn and changed since, it is still a new cell.
        cells.set(cellId, op === 'delete' ? 'update' : op);
      }
    }
  }
  return turns.length ? { turns, cells } : NOTHING_PENDING;
}

/** The cells that are there, as the newest change that knows it left them. */
export function recordedIn({
  turns,
  cells
}: Pick<IPending, 'cells'> & {
  turns: readonly Pick<IPendingTurn, 'changes'>[];
}): IRecordedCell[] {
  const changes = [...turns].reverse().flatMap(turn => turn.changes);
  return [...cells.keys()].map(cellId => {
    const own = changes.filter(change => change.cellId === cellId).reverse();
    const source = own.find(({ after }) => after != null)?.after ?? null;
    const later = changes.slice(changes.indexOf(own[0]) + 1);
    return { cellId, source, index: later.reduce(moved, own[0].index ?? 0) };
  });
}

/** Where a cell is after another one was added, or removed. */
function moved(index: number, { op, index: place }: Change): number {
  if (place == null) {
    return index;
  }
  const by = op === 'insert' && place <= index ? 1 : 0;
  return op === 'delete' && place < index ? index - 1 : index + by;
}

/** The cells that a decision on a turn names; undefined where it is about all that the turn did. */
export function cellIdsOf(turn: IPendingTurn): string[] | undefined {
  return turn.isAll
    ? undefined
    : turn.changes.flatMap(({ cellId }) => (cellId ? [cellId] : []));
}

/** "3 cells changed", "1 cell changed so far · 2 earlier"; the parts of a bar's words. */
export function pendingLabel({ turns }: IPending): {
  count: string;
  more: string;
} {
  const [newest, ...earlier] = turns;
  const count = countOf(newest.changes);
  const before = earlier.reduce(
    (sum, turn) => sum + cellCount(turn.changes),
    0
  );
  return {
    count: `${count}${isRunning(newest.session) ? ' so far' : ''}`,
    more: before ? `${before} earlier` : ''
  };
}

function countOf(changes: readonly Change[]): string {
  const count = cellCount(changes);
  if (!count) {
    return 'Notebook created';
  }
  return `${count} ${count === 1 ? 'cell' : 'cells'} changed`;
}

function cellCount(changes: readonly Change[]): number {
  return changes.filter(({ cellId }) => cellId).length;
}

/** Whether a turn of this conversation runs, so that nothing in it can be decided. */
export function isRunning({ store }: ISessionOnPage): boolean {
  return !!store.conversation.current.runningTurnId;
}

/** Whether a decision on something in this conversation can be made now. */
export function canDecide(session: ISessionOnPage): boolean {
  return !isRunning(session) && session.decider.deciding.current === null;
}

/** What waits for a decision, in all notebooks; notifies once a frame. */
export class Pending {
  constructor(private readonly _sessions: SessionsOnPage) {
    _sessions.changed.connect(this._notify, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Whether something waits, or may soon. */
  get isLikely(): boolean {
    return this._sessions.all.some(
      session => isRunning(session) || session.store.open.current.length > 0
    );
  }

  /** What waits in a notebook, of all conversations, the newest first. */
  of(path: string): IPending {
    const open = this._sessions.all.flatMap(session =>
      session.store.open.current.map(turn => ({ turn, session }))
    );
    open.sort((a, b) => b.turn.startedAt - a.turn.startedAt);
    return pendingIn(open, path);
  }

  /** The conversation, where the page listens to it. */
  session(id: string): ISessionOnPage | null {
    return this._sessions.all.find(({ sessionId }) => sessionId === id) ?? null;
  }

  private _notify(): void {
    if (!this._isNotifying) {
      this._isNotifying = true;
      nextFrame(() => {
        this._isNotifying = false;
        this._changed.emit();
      });
    }
  }

  private _isNotifying = false;
  private readonly _changed = new Signal<this, void>(this);
}

/** A hidden page has no frames. */
function nextFrame(run: () => void): void {
  if (document.hidden) {
    setTimeout(run, 100);
  } else {
    requestAnimationFrame(run);
  }
}
