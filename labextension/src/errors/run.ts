import { CodeCell } from '@jupyterlab/cells';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';

import { failureOf, wasInterrupted } from './failure';

/** How a run ended. */
export type RunEnd = 'ok' | 'failed' | 'interrupted' | 'not run';

/**
 * Run cells in this order, as the person's own act, and see how it ended for one of them.
 * Where one before it fails, that one is not run.
 */
export async function runFor(
  panel: NotebookPanel,
  cell: CodeCell,
  cellIds: readonly string[]
): Promise<RunEnd> {
  const { content, sessionContext } = panel;
  const cells = cellIds.flatMap(
    cellId => content.widgets.find(({ model }) => model.id === cellId) ?? []
  );
  const isOk = await NotebookActions.runCells(content, cells, sessionContext);
  if (cell.isDisposed) {
    return 'not run';
  }
  if (isOk && !failureOf(cell.model)) {
    return 'ok';
  }
  if (cells.some(wasInterrupted)) {
    return 'interrupted';
  }
  return failureOf(cell.model) ? 'failed' : 'not run';
}
