import { Change } from '../api/types';
import { IUndoneEntry } from './turn';

/** What was reverted, and what cannot be. */
export function undoneLabel({ changes, left, note }: IUndoneEntry): string {
  return [restoredLabel(changes, left), note].filter(Boolean).join(' ');
}

/** "Undone: 2 cells restored, 1 added cell removed."; without changes, what that means. */
function restoredLabel(changes: readonly Change[], left: number): string {
  const parts: string[] = [];
  const count = (
    matches: (change: Change) => boolean,
    words: (cells: string) => string
  ) => {
    const ids = new Set(
      changes.filter(matches).map(({ path, cellId }) => `${path}\n${cellId}`)
    );
    if (ids.size) {
      parts.push(words(`${ids.size} ${ids.size === 1 ? 'cell' : 'cells'}`));
    }
  };
  const is = (op: Change['op']) => (change: Change) =>
    change.op === op && !!change.cellId;
  count(is('update'), cells => `${cells} restored`);
  count(is('insert'), cells => `${cells} put back`);
  count(is('delete'), cells => `${cells} removed`);
  count(is('move'), cells => `${cells} moved back`);
  for (const { op, path, cellId } of changes) {
    if (op === 'delete' && !cellId) {
      parts.push(`${path} deleted`);
    }
  }
  if (parts.length) {
    return `Undone: ${parts.join(', ')}.`;
  }
  return left ? '' : 'Nothing to undo: everything is already as it was.';
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
