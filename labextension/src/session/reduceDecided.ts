import { Change, ChangesKept, ChangesUndone, UndoConflict } from '../api/types';
import { mergeChanges } from './changes';
import type { ITurn } from './turn';

/** The turn after the user kept or reverted some of its changes, or all. */
export function reduceDecided(
  turn: ITurn,
  event: ChangesUndone | ChangesKept
): ITurn {
  const { cellIds } = event;
  const files = decidedFiles(event);
  const decided = cellIds
    ? {
        ...turn.decided,
        cells: new Set([...turn.decided.cells, ...cellIds]),
        files: new Set([...turn.decided.files, ...files])
      }
    : { ...turn.decided, all: true };
  const left = event.type === 'changes_undone' ? event.conflicts : [];
  const conflicts = [
    ...turn.conflicts.filter(
      old =>
        cellIds &&
        !cellIds.includes(old.cellId) &&
        (old.cellId || !files.includes(old.path)) &&
        !left.some(isSame(old))
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

/** The documents that the event settles as a whole; older events name only those that are gone. */
function decidedFiles(event: ChangesUndone | ChangesKept): readonly string[] {
  const gone =
    event.type === 'changes_kept'
      ? []
      : event.changes.filter(({ op, cellId }) => op === 'delete' && !cellId);
  return [...(event.files ?? []), ...gone.map(({ path }) => path)];
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
      // A file that was written without a record cannot be reverted here.
      ({ op, path, cellId }) =>
        op !== 'write' &&
        !turn.decided.cells.has(cellId ?? '') &&
        (!!cellId || !turn.decided.files.has(path))
    );
    known.set(turn, open);
  }
  return open;
}
