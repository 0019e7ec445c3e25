import type { ISharedCell } from '@jupyter/ydoc';
import { ICellModel, isCodeCellModel } from '@jupyterlab/cells';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { IOutput } from '@jupyterlab/nbformat';
import { INotebookModel } from '@jupyterlab/notebook';

import { isFailure } from './kernel/failure';
import { INotebookError, INotebookHints } from './editor';

/** A name that a data frame is loaded into. */
const FRAME =
  /^[ \t]*(\w+)\s*=\s*(?:pd|pl|polars|pandas)\.(?:read|scan)_\w+\(/m;

/** How many of a notebook's errors are looked at. */
const MOST_ERRORS = 3;

/** What in documents is worth a suggestion; looked for again when a document's content has changed. */
export class DocumentHints<
  Model extends DocumentRegistry.IModel,
  Hints extends object
> {
  constructor(private readonly _find: (model: Model) => Hints) {}

  of(model: Model): Hints {
    let hints = this._known.get(model);
    if (!hints) {
      const forget = () => {
        model.contentChanged.disconnect(forget);
        this._known.delete(model);
      };
      model.contentChanged.connect(forget);
      hints = this._find(model);
      this._known.set(model, hints);
    }
    return hints;
  }

  private readonly _known = new WeakMap<Model, Hints>();
}

/** What in a notebook is worth a suggestion. Each cell is read once. */
export function notebookHints({
  cells,
  sharedModel
}: INotebookModel): INotebookHints {
  const sources = sharedModel.cells.map(cell => cell.getSource());
  const errors: INotebookError[] = [];
  for (let index = 0; index < cells.length; index++) {
    const isWanted =
      errors.length < MOST_ERRORS && showsError(cells.get(index));
    const error = isWanted && errorIn(sharedModel.cells[index], index);
    if (error) {
      errors.push(error);
    }
  }
  return {
    isEmpty: sources.every(source => !source.trim()),
    errors,
    frame: unusedFrame(
      sources,
      index => sharedModel.cells[index].cell_type === 'code'
    )
  };
}

/** The data frame that was loaded last of those that no later cell names. */
export function unusedFrame(
  sources: readonly string[],
  isCode: (index: number) => boolean
): string | undefined {
  const later = new Set<string>();
  for (let index = sources.length - 1; index >= 0; index--) {
    const name = isCode(index) ? FRAME.exec(sources[index])?.[1] : undefined;
    if (name && !later.has(name)) {
      return name;
    }
    for (const word of sources[index].match(/\w+/g) ?? []) {
      later.add(word);
    }
  }
  return undefined;
}

/** The same as `errorIn`, without a copy of all outputs. */
function showsError(cell: ICellModel): boolean {
  if (isCodeCellModel(cell)) {
    for (let index = 0; index < cell.outputs.length; index++) {
      const output = cell.outputs.get(index);
      if (output.type === 'error' && isFailure(String(output.toJSON().ename))) {
        return true;
      }
    }
  }
  return false;
}

/** The error of its code that a code cell shows. */
export function errorIn(
  cell: ISharedCell,
  index: number
): INotebookError | null {
  const { outputs } = cell.toJSON() as { outputs?: IOutput[] };
  const failure = outputs?.find(
    ({ output_type, ename }) =>
      output_type === 'error' && isFailure(String(ename))
  );
  return failure
    ? {
        number: index + 1,
        name: String(failure.ename),
        cellId: cell.getId(),
        text: `${failure.ename}: ${failure.evalue}\n${cell.getSource()}`
      }
    : null;
}
