import { Change, ChangesKept, ChangesUndone, UndoConflict } from '../api/types';
import { mergeChanges } from './changes';
import type { ITurn } from './turn';

/** The turn after the user kept or reverted some of its changes, or all. */
export function reduceDecided(
  turn: ITurn,
  event: ChangesUndone | ChangesKept
): ITurn {
  const cellIds = decidedIds(event);
  const decided = cellIds
    ? { ...turn.decided, cells: new Set([...turn.decided.cells, ...cellIds]) }
    : { ...turn.decided, all: true };
  const left = event.type === 'changes_undone' ? event.conflicts : [];
  const conflicts = [
    ...turn.conflicts.filter(
      old => cellIds && !cellIds.includes(old.cellId) && !left.some(isSame(old))
    ),
    ...left
  ];
  const id = `undone-${event.seq}`;
  if (event.type === 'changes_kept' || turn.entries.some(e => e.id === id)) {
    return { ...turn, decided, conflicts };
  }
  return {
    ...turn,
    decided,
    conflicts,
    entries:
      event.changes.length || !left.length
        ? [
            ...turn.entries,
            {
              kind: 'undone',
              id,
              changes: event.changes,
              left: left.length,
              note: event.note
            }
          ]
        : turn.entries
  };
}

/** The cells that the event settles; undefined means all of the turn's. */
function decidedIds(
  event: ChangesUndone | ChangesKept
): readonly string[] | undefined {
  if (!event.cellIds || event.type === 'changes_kept') {
    return event.cellIds;
  }
  const isFileGone = event.changes.some(
    ({ op, cellId }) => op === 'delete' && !cellId
  );
  return isFileGone ? [...event.cellIds, ''] : event.cellIds;
}

function isSame(a: UndoConflict): (b: UndoConflict) => boolean {
  return b => a.path === b.path && a.cellId === b.cellId;
}

const known = new WeakMap<ITurn, Change[]>();

/** What the turn changed and nobody has decided on. */
export function openChanges(turn: ITurn): Change[] {
  if (turn.decided.all || !turn.changes.length) {
    return [];
  }
  let open = known.get(turn);
  if (!open) {
    open = mergeChanges(turn.changes).filter(
      // A file that was only edited cannot be reverted here.
      ({ op, cellId }) =>
        op !== 'write' && !turn.decided.cells.has(cellId ?? '')
    );
    known.set(turn, open);
  }
  return open;
}
