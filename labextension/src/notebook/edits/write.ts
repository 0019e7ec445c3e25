import { NotebookPanel } from '@jupyterlab/notebook';

import { hasOtherLineEnds, lineFeeds } from '../../diff/lines';
import { IHunk } from '../../diff/merge';
import { indexOf, sharedNotebook, SharedCell, wholeCell } from '../cells';
import { keepingView } from '../view';

/** A replacement in a text as its editor shows it, in UTF-16 units. */
type Replacement = Pick<IHunk, 'from' | 'to' | 'insert'>;

/** The shared text of a cell or a file. */
interface ISharedText {
  updateSource(start: number, end: number, value?: string): void;
  transact(act: () => void): void;
  undoManager?: { stopCapturing(): void } | null;
}

/**
 * Write hunks into a shared text whose lines end in line feeds: one step, of its own, of the text's
 * undo.
 */
export function writeInto(
  shared: ISharedText,
  hunks: readonly Replacement[]
): void {
  shared.undoManager?.stopCapturing();
  shared.transact(() => {
    [...hunks]
      .sort((one, other) => other.from - one.from)
      .forEach(({ from, to, insert }) =>
        shared.updateSource(from, to, lineFeeds(insert))
      );
  });
  shared.undoManager?.stopCapturing();
}

/**
 * Write hunks of `shown`, the text that a cell's editor shows, into the cell; throws where there is
 * no such cell.
 *
 * An editor counts each line end as one character. Where the cell has others than line feeds, its
 * places are not those of the shared text, and what is written into that appears elsewhere in the
 * editor. The cell is then made anew with what its editor shows, as a step of the notebook's undo;
 * what is written is a step of the cell's, as in any other cell.
 *
 * @param order - The ids of the notebook's cells, in a transaction, in which the list is not true.
 */
export function writeIntoCell(
  panel: NotebookPanel,
  cellId: string,
  shown: string,
  hunks: readonly Replacement[],
  order: readonly string[] | null = null
): void {
  const notebook = sharedNotebook(panel);
  const cell = notebook.cells[indexOf(notebook, cellId)];
  if (!cell) {
    throw new Error('The cell no longer exists.');
  }
  writeInto(
    hasOtherLineEnds(cell.getSource())
      ? madeAnew(panel, cell, shown, order)
      : cell,
    hunks
  );
}

function madeAnew(
  panel: NotebookPanel,
  cell: SharedCell,
  source: string,
  order: readonly string[] | null
): SharedCell {
  const notebook = sharedNotebook(panel);
  const id = cell.getId();
  const place = notebook.cells.indexOf(cell);
  const index = order ? order.indexOf(id) : place;
  const model = panel.content.model!.cells.get(place);
  const whole = { ...wholeCell(cell, model), id, source };
  let made: SharedCell = cell;
  const make = () =>
    notebook.transact(() => {
      notebook.deleteCell(index);
      made = notebook.insertCell(index, whole) as SharedCell;
    });
  if (order) {
    make();
  } else {
    notebook.undoManager.stopCapturing();
    keepingView(panel.content, make);
    notebook.undoManager.stopCapturing();
  }
  return made;
}
