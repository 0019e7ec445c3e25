import type * as nbformat from '@jupyterlab/nbformat';
import { ICellModel } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { PartialJSONObject } from '@lumino/coreutils';

import {
  CellEdit,
  CellPosition,
  CellType,
  DeleteCell,
  InsertCell,
  MoveCell,
  PageRequestError,
  SetOutputs,
  UpdateCell
} from '../../api';
import { hasOtherLineEnds, lineFeeds } from '../../diff/lines';
import { asWritten, isMadeByAgent } from '../agentMark';
import {
  CellReader,
  isLocked,
  isRunning,
  Lock,
  SharedCell,
  sharedNotebook,
  wholeCell,
  WholeCell
} from '../cells';
import { hashSource } from './hash';
import { ISplice, minimalSplice } from './text';

/** One operation on the shared document. Indices are those at its turn. */
export type Step =
  | { kind: 'insert'; index: number; cell: WholeCell }
  | { kind: 'delete'; index: number }
  | { kind: 'splice'; cell: SharedCell; splice: ISplice }
  | { kind: 'mark'; cell: SharedCell }
  | { kind: 'restore'; cell: SharedCell; model: ICellModel; whole: WholeCell };

/** Outputs for a cell; they are no step of the undo. */
export interface IOutputsStep {
  cellId: string;
  outputs: nbformat.IOutput[];
  executionCount: number | null;
}

/** What a batch comes to. */
export interface IEditPlan {
  steps: Step[];
  outputs: IOutputsStep[];
  /** The cells that the batch names and that are there afterwards, with what they must be. */
  expected: Map<string, { source: string; type: CellType }>;
}

/** A cell at some point of the batch. */
interface IEntry {
  readonly id: string;
  type: CellType;
  source: string;
  /** The cell of the document, until the batch makes another in its place. */
  shared?: SharedCell;
  model?: ICellModel;
  /** The cell that the batch makes; later edits of the batch change it before it is made. */
  made?: WholeCell;
  /** What an edit of the batch was based on, which others of the batch may be based on too. */
  baseHash?: string;
}

/**
 * Turn a batch of edits into steps, or throw, having changed nothing.
 *
 * Each edit is checked against the notebook as the edits before it leave it. Throws `not_found`
 * for an unknown cell, `stale` with the cells as they are for a hash that does not fit, `invalid`
 * for anything that cannot be done.
 */
export function planEdits(
  panel: NotebookPanel,
  edits: readonly CellEdit[],
  reader: CellReader
): IEditPlan {
  return new Planner(panel, reader).plan(edits);
}

class Planner {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _reader: CellReader
  ) {
    const cells = _panel.content.model!.cells;
    this._entries = sharedNotebook(_panel).cells.map((shared, index) => ({
      id: shared.getId(),
      type: shared.cell_type,
      // Reading the sources of all cells would be the whole cost of a small edit.
      get source() {
        return shared.getSource();
      },
      set source(value) {
        Object.defineProperty(this, 'source', { value, writable: true });
      },
      shared,
      model: cells.get(index)
    }));
  }

  plan(edits: readonly CellEdit[]): IEditPlan {
    this._refuseStale(edits);
    for (const edit of edits) {
      switch (edit.op) {
        case 'insert':
          this._insert(edit);
          break;
        case 'update':
          this._update(edit);
          break;
        case 'delete':
          this._delete(edit);
          break;
        case 'move':
          this._move(edit);
          break;
        case 'outputs':
          this._setOutputs(edit);
          break;
        default:
          throw invalid(`Unknown edit ${(edit as CellEdit).op}.`);
      }
    }
    const present = new Map(this._entries.map(entry => [entry.id, entry]));
    const touched = edits.flatMap(edit => present.get(edit.cellId) ?? []);
    return {
      steps: this._steps,
      outputs: this._outputs,
      expected: new Map(
        touched.map(({ id, source, type }) => [id, { source, type }])
      )
    };
  }

  /** All stale cells of the batch at once, so that the caller can correct them at once. */
  private _refuseStale(edits: readonly CellEdit[]): void {
    const seen = new Set<string>();
    const stale: number[] = [];
    for (const edit of edits) {
      if (
        (edit.op === 'update' || edit.op === 'delete') &&
        !seen.has(edit.cellId)
      ) {
        const index = this._entries.findIndex(({ id }) => id === edit.cellId);
        if (
          index >= 0 &&
          hashSource(this._entries[index].source) !== edit.baseHash
        ) {
          stale.push(index);
        }
      }
      seen.add(edit.cellId);
    }
    if (stale.length) {
      throw new PageRequestError(
        'stale',
        'The user changed the cell since it was read. Nothing was changed.',
        stale.map(index => this._reader.cell(this._panel, index))
      );
    }
  }

  private _insert({ cellId, type, position, cell, ...edit }: InsertCell): void {
    const source = cell ? edit.source : lineFeeds(edit.source);
    if (this._entries.some(({ id }) => id === cellId)) {
      throw invalid(`There is a cell ${cellId} already.`);
    }
    const made: WholeCell = cell
      ? asWhole(cell, cellId, type, source)
      : asWritten({
          id: cellId,
          cell_type: type,
          source,
          // As JupyterLab's own new cells: no output of unknown origin is in it.
          metadata: type === 'code' ? { trusted: true } : {}
        });
    const index = this._place(position);
    this._entries.splice(index, 0, { id: cellId, type, source, made });
    this._steps.push({ kind: 'insert', index, cell: made });
  }

  private _update({ cellId, baseHash, type, cell, ...edit }: UpdateCell): void {
    const { entry, index } = this._find(cellId);
    this._checkHash(entry, baseHash);
    const source =
      cell || edit.source == null ? edit.source : lineFeeds(edit.source);
    // Other line ends alone are no change, unless a whole cell is restored.
    const after =
      source == null || (!cell && source === lineFeeds(entry.source))
        ? entry.source
        : source;
    if (after !== entry.source || (type ?? entry.type) !== entry.type) {
      this._checkLock(entry, 'editable');
    }
    if (cell) {
      this._restore(entry, index, asWhole(cell, cellId, type, source));
      return;
    }
    const before = entry.source;
    if (after !== before) {
      this._write(entry, index, after);
    }
    if (type != null && type !== entry.type) {
      this._checkIdle(entry, 'change its type');
      entry.type = type;
      this._remake(entry, index, retyped(this._json(entry), type));
      this._markText(entry, index);
    } else if (after !== before) {
      this._markText(entry, index);
    }
  }

  /** Have a text that the agent wrote say so. */
  private _markText(entry: IEntry, index: number): void {
    const { shared, made, source, type } = entry;
    const metadata = (made?.metadata ?? shared?.getMetadata()) as object;
    const cell = { cell_type: type, source, metadata };
    if (asWritten(cell) === cell || isMadeByAgent(metadata)) {
      return;
    }
    if (made) {
      this._remake(entry, index, asWritten(made));
    } else if (shared) {
      this._steps.push({ kind: 'mark', cell: shared });
    }
  }

  /** Another source in a cell that is there. */
  private _write(entry: IEntry, index: number, source: string): void {
    if (entry.made) {
      entry.made.source = source;
    } else if (hasOtherLineEnds(entry.source)) {
      // See `write.ts`: its editor has to be made anew with it.
      this._checkIdle(entry, 'change it');
      this._remake(entry, index, { ...this._json(entry), source });
    } else {
      const splice = minimalSplice(entry.source, source)!;
      this._steps.push({ kind: 'splice', cell: entry.shared!, splice });
    }
    entry.source = source;
  }

  /** Everything in a cell becomes what it is in `whole`; in place, where the type is the same. */
  private _restore(entry: IEntry, index: number, whole: WholeCell): void {
    this._checkIdle(entry, 'change its outputs');
    const { shared, model } = entry;
    const { source } = entry;
    const inPlace =
      !entry.made &&
      whole.cell_type === entry.type &&
      (source === whole.source ||
        !(hasOtherLineEnds(source) || hasOtherLineEnds(whole.source)));
    entry.source = whole.source;
    entry.type = whole.cell_type as CellType;
    if (!inPlace || !shared || !model) {
      this._remake(entry, index, whole);
      return;
    }
    const splice = minimalSplice(source, whole.source);
    if (splice) {
      this._steps.push({ kind: 'splice', cell: shared, splice });
    }
    this._steps.push({ kind: 'restore', cell: shared, model, whole });
  }

  private _delete({ cellId, baseHash }: DeleteCell): void {
    const { entry, index } = this._find(cellId);
    this._checkHash(entry, baseHash);
    this._checkLock(entry, 'deletable');
    this._checkIdle(entry, 'delete it');
    this._entries.splice(index, 1);
    this._steps.push({ kind: 'delete', index });
  }

  private _move({ cellId, position }: MoveCell): void {
    const { entry, index } = this._find(cellId);
    if (position.after === cellId || position.before === cellId) {
      throw invalid(`Cell ${cellId} cannot be moved next to itself.`);
    }
    this._entries.splice(index, 1);
    const target = this._place(position);
    this._entries.splice(target, 0, entry);
    if (target === index) {
      return;
    }
    this._checkIdle(entry, 'move it');
    const made = this._json(entry);
    entry.made = made;
    this._steps.push({ kind: 'delete', index });
    this._steps.push({ kind: 'insert', index: target, cell: made });
  }

  private _setOutputs({ cellId, outputs, executionCount }: SetOutputs): void {
    const { entry } = this._find(cellId);
    if (entry.type !== 'code') {
      throw invalid(`Cell ${cellId} is not code and has no outputs.`);
    }
    this._checkIdle(entry, 'set its outputs');
    this._outputs.push({
      cellId,
      outputs: outputs.map(output => joinedStream(output as nbformat.IOutput)),
      executionCount: executionCount ?? null
    });
  }

  /** Another cell with the same id in the same place. */
  private _remake(entry: IEntry, index: number, made: WholeCell): void {
    if (entry.made) {
      // Its insertions are among the steps: what they insert changes.
      for (const step of this._steps) {
        if (step.kind === 'insert' && step.cell === entry.made) {
          step.cell = made;
        }
      }
    } else {
      this._steps.push({ kind: 'delete', index });
      this._steps.push({ kind: 'insert', index, cell: made });
    }
    entry.made = made;
  }

  /** The cell as one that can be made anew, with its outputs, metadata and trust. */
  private _json(entry: IEntry): WholeCell {
    if (entry.made) {
      return entry.made;
    }
    const json = wholeCell(entry.shared!, entry.model);
    return { ...json, id: entry.id, source: entry.source };
  }

  private _find(cellId: string): { entry: IEntry; index: number } {
    const index = this._entries.findIndex(({ id }) => id === cellId);
    if (index < 0) {
      throw new PageRequestError(
        'not_found',
        `The notebook has no cell ${cellId}.`
      );
    }
    return { entry: this._entries[index], index };
  }

  /** Where a cell goes, counted without it. */
  private _place({ at, after, before }: CellPosition): number {
    if ([at, after, before].filter(value => value != null).length !== 1) {
      throw invalid('A position is one of: at, after, before.');
    }
    if (after != null) {
      return this._find(after).index + 1;
    }
    if (before != null) {
      return this._find(before).index;
    }
    return at === 'start' ? 0 : this._entries.length;
  }

  private _checkHash(entry: IEntry, baseHash: string): void {
    if (baseHash !== entry.baseHash && baseHash !== hashSource(entry.source)) {
      // Cells that the user changed are found before; here the batch contradicts itself.
      throw invalid(
        `An edit of cell ${entry.id} does not fit those before it.`
      );
    }
    entry.baseHash = baseHash;
  }

  private _checkLock(entry: IEntry, lock: Lock): void {
    if (entry.model && isLocked(entry.model, lock)) {
      throw invalid(
        `Cell ${entry.id} is locked: its metadata says that it is not ${lock}.`
      );
    }
  }

  /** A cell that is made anew loses the connection to its running code. */
  private _checkIdle(entry: IEntry, what: string): void {
    const { model } = entry;
    if (model && isRunning(model)) {
      throw invalid(
        `Cell ${entry.id} is running or waiting to run. Wait for its end to ${what}.`
      );
    }
  }

  private readonly _entries: IEntry[];
  private readonly _steps: Step[] = [];
  private readonly _outputs: IOutputsStep[] = [];
}

/** A whole cell of an edit, as a shared notebook takes it; throws where they do not agree. */
function asWhole(
  cell: object,
  id: string,
  type?: CellType | null,
  source?: string | null
): WholeCell {
  const json = cell as WholeCell;
  if (json.cell_type !== type || json.source !== source) {
    throw invalid(`The whole cell ${id} has another type or source.`);
  }
  const whole = { ...json, id, metadata: json.metadata ?? {} };
  return type === 'code'
    ? ({
        ...whole,
        outputs: ((json.outputs ?? []) as nbformat.IOutput[]).map(joinedStream)
      } as WholeCell)
    : whole;
}

/** The cell as one of another type: what only the old type has goes. */
function retyped(cell: WholeCell, type: CellType): WholeCell {
  const metadata: PartialJSONObject = { ...cell.metadata };
  delete metadata.trusted;
  const attachments =
    type !== 'code' && cell.attachments
      ? { attachments: cell.attachments as nbformat.IAttachments }
      : {};
  return {
    id: cell.id,
    cell_type: type,
    source: cell.source,
    // Without outputs there is nothing to distrust.
    metadata: type === 'code' ? { ...metadata, trusted: true } : metadata,
    ...attachments
  } as WholeCell;
}

/** nbformat allows a stream's text in lines; a shared cell would join them with commas. */
function joinedStream(output: nbformat.IOutput): nbformat.IOutput {
  return output.output_type === 'stream' && Array.isArray(output.text)
    ? { ...output, text: output.text.join('') }
    : output;
}

function invalid(message: string): PageRequestError {
  return new PageRequestError('invalid', message);
}
