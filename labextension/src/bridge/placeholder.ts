import { NotebookPanel } from '@jupyterlab/notebook';

import { CellEdit } from '../api';
import { sharedNotebook } from './cells';

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
 * The empty cell that goes when these edits write the first cells of a notebook; else null.
 *
 * JupyterLab puts it into an empty notebook for the person to begin with, and in one that the
 * agent fills it would stay as a dead cell. It stays where somebody has turned to it.
 */
export function placeholderFor(
  panel: NotebookPanel,
  edits: readonly CellEdit[]
): string | null {
  if (!fresh.has(panel) || !edits.some(({ op }) => op === 'insert')) {
    return null;
  }
  fresh.delete(panel);
  const id = emptyCellOf(panel);
  const isNamed = JSON.stringify(edits).includes(JSON.stringify(id));
  return isNamed ? null : id;
}

/** The only cell of a notebook, where it is code, empty, and nobody writes in it. */
function emptyCellOf(panel: NotebookPanel): string | null {
  const [cell, other] = sharedNotebook(panel).cells;
  const { mode, node } = panel.content;
  const hasCursor = mode === 'edit' && node.contains(document.activeElement);
  const isEmpty =
    cell?.cell_type === 'code' &&
    !cell.getSource() &&
    !cell.getOutputs().length;
  return isEmpty && !other && !hasCursor ? cell.getId() : null;
}
