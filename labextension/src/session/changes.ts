import { Change } from '../api/types';
import { wholeOf } from '../notebook/documentKind';

/**
 * What became of each cell (or file) over several changes: the first `before`, the last `after`.
 * A cell that was added and removed again is left out, and so is one that is as it was.
 */
export function mergeChanges(changes: readonly Change[]): Change[] {
  const merged = new Map<string, Change>();
  for (const change of changes) {
    const key = `${change.path}\n${change.cellId ?? ''}`;
    const earlier = merged.get(key);
    merged.delete(key);
    const next = earlier ? combine(earlier, change) : change;
    if (next) {
      merged.set(key, next);
    }
  }
  return [...merged.values()];
}

function combine(earlier: Change, later: Change): Change | null {
  const isNew = earlier.op === 'insert' || earlier.op === 'create';
  if (later.op === 'delete') {
    return isNew ? null : { ...later, before: earlier.before };
  }
  const op =
    isNew || later.op === 'move' || earlier.op === 'delete'
      ? earlier.op === 'delete'
        ? 'update'
        : earlier.op
      : later.op;
  const change: Change = { ...later, op, before: earlier.before };
  const unchanged = op === 'update' && change.before === change.after;
  return unchanged ? null : change;
}

/** "3 cells changed", "2 cells and 1 file changed", "1 cell, 1 document and 2 files changed". */
export function changeCountLabel(
  changes: readonly Pick<Change, 'path' | 'cellId'>[]
): string {
  const nouns = changes.map(({ cellId, path }) =>
    cellId ? 'cell' : wholeOf(path)
  );
  const parts = (['cell', 'document', 'file'] as const)
    .map(noun => counted(nouns.filter(each => each === noun).length, noun))
    .filter(Boolean);
  const last = parts.pop();
  return `${[parts.join(', '), last].filter(Boolean).join(' and ')} changed`;
}

/** "1 cell", "2 cells"; empty where there are none. */
export function counted(count: number, noun: string): string {
  return count ? `${count} ${noun}${count === 1 ? '' : 's'}` : '';
}

/** "30 cells added", "2 cells added, 1 changed, 1 file changed"; empty where nothing was. */
export function doneLabel(changes: readonly Change[]): string {
  const merged = mergeChanges(changes);
  const cells = merged.filter(({ cellId }) => cellId);
  const files = merged.filter(({ op, cellId }) => op === 'update' && !cellId);
  const done = Object.entries(DONE)
    .map(([op, verb]) => ({
      verb,
      count: cells.filter(change => change.op === op).length
    }))
    .filter(({ count }) => count)
    .map(({ verb, count }, index) => {
      const what = index ? '' : count === 1 ? 'cell ' : 'cells ';
      return `${count} ${what}${verb}`;
    });
  return [...done, ...(files.length ? [changeCountLabel(files)] : [])].join(
    ', '
  );
}

const DONE = {
  insert: 'added',
  update: 'changed',
  delete: 'removed',
  move: 'moved'
};

const VERBS = {
  insert: ['Added', 'Add'],
  update: ['Changed', 'Change'],
  delete: ['Removed', 'Remove'],
  move: ['Moved', 'Move'],
  create: ['Created', 'Create'],
  write: ['Changed', 'Change']
} as const;

/** "Changed cell 4", "Removed cell 2", "Created data.csv"; "Change cell 4" before it is done. */
export function changeLabel(change: Change, isProposed = false): string {
  const verb = VERBS[change.op][isProposed ? 1 : 0];
  if (change.cellId && change.index !== undefined) {
    return `${verb} cell ${change.index + 1}`;
  }
  return `${verb} ${change.cellId ? 'a cell' : change.path}`;
}
