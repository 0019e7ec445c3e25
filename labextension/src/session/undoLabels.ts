import { Change, UndoConflict } from '../api/types';
import { wholeOf } from '../notebook/documentKind';
import { counted } from './changes';
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
      .map(({ path }) => `deleted ${path}`),
    ...changes
      .filter(({ op, cellId }) => op !== 'delete' && !cellId)
      .map(({ path }) => `restored ${path}`)
  ];
  if (parts.length) {
    return `Undone: ${parts.join(', ')}`;
  }
  return left ? '' : 'Nothing to undo: everything is already as it was';
}

/** "1 cell was changed since and was not reverted: decide on it above." */
export function keptLabel(conflicts: readonly UndoConflict[]): string {
  if (!conflicts.length) {
    return '';
  }
  return conflicts.length === 1
    ? `${leftLabel(conflicts)} was changed since and was not reverted: decide on it above.`
    : `${leftLabel(conflicts)} were changed since and were not reverted: decide on them above.`;
}

/** "1 cell", "2 files", "3 changes" where there are several kinds. */
export function leftLabel(conflicts: readonly UndoConflict[]): string {
  const nouns = new Set(
    conflicts.map(({ cellId, path }) => (cellId ? 'cell' : wholeOf(path)))
  );
  const [noun] = nouns.size === 1 ? nouns : ['change'];
  return counted(conflicts.length, noun);
}
