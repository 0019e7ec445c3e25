import { NotebookPanel } from '@jupyterlab/notebook';

import { CellEdit } from '../../api';
import { isLocked, sharedNotebook } from '../cells';
import { hashSource } from './hash';

/** Notebooks without a word in them that were opened for the agent to fill. */
const fresh = new WeakSet<NotebookPanel>();

/** A notebook was opened just now at the agent's request; note whether it is empty. */
export function noteOpened(panel: NotebookPanel): void {
  const { cells } = sharedNotebook(panel);
  if (cells.length === 0 || emptyCellOf(panel) !== null) {
    fresh.add(panel);
  }
}

/**
 * Plan edits; those that write the first cells of such a notebook also delete its empty cell.
 *
 * JupyterLab puts it into an empty notebook for the user to begin with, and in one that the
 * agent fills it would stay as a dead cell. It stays where somebody has turned to it.
 */
export function withoutPlaceholder<T>(
  panel: NotebookPanel,
  edits: readonly CellEdit[],
  plan: (edits: readonly CellEdit[]) => T
): T {
  if (!fresh.has(panel) || !edits.some(({ op }) => op === 'insert')) {
    return plan(edits);
  }
  const cellId = emptyCellOf(panel);
  const isNamed = JSON.stringify(edits).includes(JSON.stringify(cellId));
  const planned = plan(
    cellId === null || isNamed
      ? edits
      : [...edits, { op: 'delete', cellId, baseHash: hashSource('') }]
  );
  // Not before: a batch that is refused has written nothing.
  fresh.delete(panel);
  return planned;
}

/** The only cell of a notebook, where it is code, empty, and nobody writes in it or holds it. */
function emptyCellOf(panel: NotebookPanel): string | null {
  const [cell, other] = sharedNotebook(panel).cells;
  const { mode, node } = panel.content;
  const hasCursor = mode === 'edit' && node.contains(document.activeElement);
  const isEmpty =
    cell?.cell_type === 'code' &&
    !cell.getSource() &&
    !cell.getOutputs().length &&
    cell.executionState !== 'running' &&
    !isLocked(cell, 'deletable');
  return isEmpty && !other && !hasCursor ? cell.getId() : null;
}
