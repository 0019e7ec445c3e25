import type { SharedCell as SharedCellJSON, YNotebook } from '@jupyter/ydoc';
import { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import { Notebook, NotebookPanel } from '@jupyterlab/notebook';

import { PageCell, PageNotebook, PageRequestError } from '../api';
import { BRIEF_CELLS, briefOutputs } from './briefOutputs';
import { presentId } from './cellNames';
import { ExecutionTracker } from './kernel/executions';
import { hashSource } from './edits/hash';
import { kernelOf } from './kernel/kernel';

/** A whole cell, as nbformat has it and a shared notebook takes it. */
export type WholeCell = SharedCellJSON.Cell & { id: string; source: string };

/** A shared cell of an open notebook. */
export type SharedCell = YNotebook['cells'][number];

/**
 * The shared document behind an open notebook.
 *
 * It is a `YNotebook` with and without collaboration; its undo manager is not in the interface.
 */
export function sharedNotebook(panel: NotebookPanel): YNotebook {
  const model = panel.content.model;
  if (!model) {
    throw new PageRequestError('not_open', 'The notebook was closed.');
  }
  return model.sharedModel as YNotebook;
}

/**
 * Whether the file keeps the ids of the cells: before nbformat 4.5 it has none, and JupyterLab makes
 * others each time that it loads it.
 */
export function keepsIds(
  notebook: Pick<YNotebook, 'nbformat' | 'nbformat_minor'>
): boolean {
  return notebook.nbformat > 4 || notebook.nbformat_minor >= 5;
}

/** Whether its cells have other ids each time that it is loaded. */
export function namesAnew(
  notebook: Pick<YNotebook, 'nbformat' | 'nbformat_minor'>,
  path: string
): boolean {
  // Other formats than that of notebooks, which jupytext reads, have no ids either.
  return !(keepsIds(notebook) && path.endsWith('.ipynb'));
}

/** Whether a cell model is a code cell's. */
export function isCode(model: ICellModel): model is ICodeCellModel {
  return model.type === 'code';
}

/** Whether a cell runs or waits to run: made anew, it would lose the connection to its code. */
export function isRunning(model: ICellModel): boolean {
  return isCode(model) && model.executionState === 'running';
}

/** What a cell can be locked against: another text or type, or being deleted. */
export type Lock = 'editable' | 'deletable';

/** The locks of nbformat and of nbgrader, as in the server's `cell_locks.py`. */
export function isLocked(
  cell: Pick<ICellModel, 'getMetadata'>,
  lock: Lock
): boolean {
  const nbgrader = cell.getMetadata('nbgrader') as
    | { locked?: unknown }
    | null
    | undefined;
  return cell.getMetadata(lock) === false || nbgrader?.locked === true;
}

/** A cell with its outputs, metadata and trust. */
export function wholeCell(shared: SharedCell, model?: ICellModel): WholeCell {
  const json = shared.toJSON() as WholeCell;
  return model?.trusted && shared.cell_type === 'code'
    ? { ...json, metadata: { ...json.metadata, trusted: true } }
    : json;
}

/** A cell's place, or -1; also by an id that it had before the notebook was loaded. */
export function indexOf(notebook: YNotebook, cellId: string): number {
  const id = presentId(notebook, cellId);
  return notebook.cells.findIndex(cell => cell.getId() === id);
}

/** The place of each of these cells; throws `not_found` naming those that are not there. */
export function indicesOf(
  notebook: YNotebook,
  cellIds: readonly string[]
): number[] {
  const places = new Map(notebook.cells.map((c, index) => [c.getId(), index]));
  const missing = cellIds.filter(id => !places.has(id));
  if (missing.length) {
    throw new PageRequestError(
      'not_found',
      `The notebook has no cell ${missing.join(', ')}.`
    );
  }
  return cellIds.map(id => places.get(id)!);
}

/** Which outputs of a cell are read; brief ones are what a context needs. */
type Wanted = 'none' | 'brief' | 'whole';

/** Reads cells of an open notebook as the server wants them. */
export class CellReader {
  constructor(private readonly _executions: Pick<ExecutionTracker, 'get'>) {}

  /** The cells at these places (default: all), in this order. */
  read(
    panel: NotebookPanel,
    indices?: readonly number[],
    outputs: Wanted = 'none'
  ): PageNotebook {
    const notebook = sharedNotebook(panel);
    const { cells } = notebook;
    const wanted = indices ?? cells.map((_, index) => index);
    return {
      path: panel.context.localPath,
      ...kernelOf(panel),
      idsKept: keepsIds(notebook) ? undefined : false,
      cells: wanted.map(index => this.cell(panel, index, outputs))
    };
  }

  /** The cells with everything in them, those that are there, and the ids of all. */
  readWhole(
    panel: NotebookPanel,
    cellIds?: readonly string[] | null
  ): PageNotebook {
    const { cells } = sharedNotebook(panel);
    const order = cells.map(cell => cell.getId());
    const wanted = cellIds && new Set(cellIds);
    const indices = order.flatMap((id, index) =>
      !wanted || wanted.has(id) ? index : []
    );
    const models = panel.content.model!.cells;
    const notebook = this.read(panel, indices);
    return {
      ...notebook,
      order,
      cells: notebook.cells.map(cell => ({
        ...cell,
        cell: wholeCell(
          cells[cell.index],
          models.get(cell.index)
        ) as unknown as PageCell['cell']
      }))
    };
  }

  /** One cell. */
  cell(
    panel: NotebookPanel,
    index: number,
    outputs: Wanted = 'none'
  ): PageCell {
    const shared = sharedNotebook(panel).cells[index];
    const source = shared.getSource();
    const cell: PageCell = {
      id: shared.getId(),
      index,
      type: shared.cell_type,
      source,
      hash: this._hash(shared, source),
      selectionStatus: selectionOf(panel.content, index)
    };
    const model = panel.content.model!.cells.get(index);
    if (!isCode(model) || shared.cell_type !== 'code') {
      return cell;
    }
    const run = this._executions.get(panel.sessionContext, cell.id);
    return {
      ...cell,
      hasOutput: model.outputs.length > 0 || undefined,
      outputs:
        outputs === 'whole'
          ? (shared.getOutputs() as PageCell['outputs'])
          : outputs === 'brief'
            ? this._brief(panel, model, cell)
            : undefined,
      executionStatus: run?.status ?? 'idle',
      executionCount: model.executionCount ?? undefined,
      lastRunSuccess: run?.success,
      lastExecutionDuration: run?.durationMs,
      lastRunEndTime: run?.endTime
    };
  }

  private _brief(
    panel: NotebookPanel,
    model: ICodeCellModel,
    { selectionStatus }: PageCell
  ): PageCell['outputs'] {
    const many = panel.content.model!.cells.length > BRIEF_CELLS;
    const found = briefOutputs(model, many && !selectionStatus);
    return found.length ? found : undefined;
  }

  /** A notebook of thousands of cells is read again and again, and few of them change. */
  private _hash(cell: SharedCell, source: string): string {
    const known = this._hashes.get(cell);
    if (known?.source === source) {
      return known.hash;
    }
    const hash = hashSource(source);
    this._hashes.set(cell, { source, hash });
    return hash;
  }

  private readonly _hashes = new WeakMap<
    SharedCell,
    { source: string; hash: string }
  >();
}

/** Left out for a cell that is not selected: that is what the server takes it for. */
function selectionOf(
  notebook: Notebook,
  index: number
): PageCell['selectionStatus'] {
  if (index === notebook.activeCellIndex) {
    return notebook.mode === 'edit' ? 'active' : 'selected';
  }
  const widget = notebook.widgets[index];
  return widget && notebook.isSelected(widget) ? 'selected' : undefined;
}
