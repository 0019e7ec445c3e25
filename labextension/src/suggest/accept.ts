import { Cell, CodeCell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';

import { sharedNotebook } from '../bridge/cells';

/** The empty code cell below a cell, which Shift+Enter made; null where there is none. */
export function emptyCellBelow(panel: NotebookPanel, cell: Cell): Cell | null {
  const { widgets } = panel.content;
  const next = widgets[widgets.indexOf(cell) + 1];
  return next instanceof CodeCell && !next.model.sharedModel.getSource().trim()
    ? next
    : null;
}

/** Write a suggestion: into the empty cell below, or as a new one. One step of the undo. */
export function acceptBelow(
  panel: NotebookPanel,
  cell: Cell,
  source: string
): void {
  const { content } = panel;
  const notebook = sharedNotebook(panel);
  const index = content.widgets.indexOf(cell) + 1;
  const empty = emptyCellBelow(panel, cell);
  notebook.undoManager.stopCapturing();
  if (empty) {
    empty.model.sharedModel.setSource(source);
  } else {
    notebook.insertCell(index, {
      cell_type: 'code',
      source,
      metadata: { trusted: true }
    });
  }
  notebook.undoManager.stopCapturing();
  content.activeCellIndex = index;
  content.mode = 'edit';
}
