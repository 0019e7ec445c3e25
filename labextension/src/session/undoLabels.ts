import { Change } from '../api/types';
import { IUndoneEntry } from './turn';

/** What was reverted, and what cannot be. */
export function undoneLabel({ changes, left, note }: IUndoneEntry): string {
  return [restoredLabel(changes, left), note].filter(Boolean).join('. ');
}

/** "Undone: restored 2 cells, removed 1 cell"; without changes, what that means. */
function restoredLabel(changes: readonly Change[], left: number): string {
  const cells = (verb: string, op: Change['op']) => {
    const ids = new Set(
      changes
        .filter(change => change.op === op && change.cellId)
        .map(({ path, cellId }) => `${path}\n${cellId}`)
    );
    const count = ids.size === 1 ? '1 cell' : `${ids.size} cells`;
    return ids.size ? [`${verb} ${count}`] : [];
  };
  const parts = [
    ...cells('restored', 'update'),
    ...cells('put back', 'insert'),
    ...cells('removed', 'delete'),
    ...cells('moved back', 'move'),
    ...changes
      .filter(({ op, cellId }) => op === 'delete' && !cellId)
      .map(({ path }) => `deleted ${path}`)
  ];
  if (parts.length) {
    return `Undone: ${parts.join(', ')}`;
  }
  return left ? '' : 'Nothing to undo: everything is already as it was';
}

/** "1 cell was changed since and was not reverted: decide on it above." */
export function keptCellsLabel(count: number): string {
  if (!count) {
    return '';
  }
  return count === 1
    ? '1 cell was changed since and was not reverted: decide on it above.'
    : `${count} cells were changed since and were not reverted: decide on them above.`;
}
