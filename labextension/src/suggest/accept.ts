import { Cell, CodeCell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';

import { lineFeeds } from '../diff/lines';
import { isLocked, sharedNotebook } from '../notebook/cells';
import { writeIntoCell } from '../notebook/edits/write';

/** The empty code cell below a cell, which Shift+Enter made; null where there is none. */
export function emptyCellBelow(panel: NotebookPanel, cell: Cell): Cell | null {
  const { widgets } = panel.content;
  const next = widgets[widgets.indexOf(cell) + 1];
  return next instanceof CodeCell &&
    !next.model.sharedModel.getSource().trim() &&
    !isLocked(next.model, 'editable')
    ? next
    : null;
}

/**
 * Write a suggestion: into the empty cell below, or as a new one.
 *
 * The text is a step of the cell's undo (Ctrl+Z in it), a new cell one of the notebook's (Z in command
 * mode).
 */
export function acceptBelow(
  panel: NotebookPanel,
  cell: Cell,
  source: string
): void {
  const { content } = panel;
  const notebook = sharedNotebook(panel);
  const index = content.widgets.indexOf(cell) + 1;
  if (!emptyCellBelow(panel, cell)) {
    notebook.undoManager.stopCapturing();
    notebook.insertCell(index, {
      cell_type: 'code',
      source: '',
      metadata: { trusted: true }
    });
    notebook.undoManager.stopCapturing();
  }
  const made = notebook.cells[index];
  const shown = lineFeeds(made.getSource());
  writeIntoCell(panel, made.getId(), shown, [
    { from: 0, to: shown.length, insert: source }
  ]);
  content.activeCellIndex = index;
  content.mode = 'edit';
}
