import { PathExt } from '@jupyterlab/coreutils';

import { IFencedBlock } from '../../proposals';
import { CodeActionKind, ICodeAction, ICodeActions } from '../../ui/codeRow';

/** A cell of an open notebook. */
export interface ICellPlace {
  path: string;
  cellId: string;
  /** As people count, from 1. */
  number: number;
  /** The whole notebook can only be read. */
  isReadOnly: boolean;
  /** Its metadata says that it is not editable. */
  isLocked: boolean;
}

/** Where code can go, as things are now. */
export interface IPlaces {
  /** The active cell of the active notebook; null where there is none. */
  readonly active: ICellPlace | null;
  /** A cell by its id, in this notebook or else in any that is open. */
  find(cellId: string, notebook?: string): ICellPlace | null;
  isOpen(path: string): boolean;
}

const ACT_LABELS: Record<CodeActionKind, string> = {
  apply: 'Apply',
  above: 'Insert above',
  below: 'Insert below',
  replace: 'Replace'
};

const NO_NOTEBOOK = 'No active notebook.';

/** What can be done with a block of an answer that is about this notebook. */
export function planOf(
  block: IFencedBlock,
  places: IPlaces,
  notebook?: string
): ICodeActions {
  const { target } = block;
  if (target?.kind === 'file') {
    return ofFile(block, target.path, places);
  }
  if (!target) {
    return { title: '', actions: ofActive(places) };
  }
  const tagged = places.find(target.cellId, notebook);
  if (!tagged) {
    return ofLost(block, target.cellId, places, notebook);
  }
  const isNew = target.kind === 'after';
  const { number, path } = tagged;
  const name = nameOf(tagged);
  const apply: ICodeAction = {
    act: 'apply',
    label: isNew
      ? `Apply as a new cell below ${name}`
      : `Apply to ${name}, as a diff`,
    reason:
      unfinished(block) ?? (isNew ? readOnly(tagged) : unwritable(tagged)),
    path,
    cellId: tagged.cellId
  };
  return {
    title: isNew ? `Below cell ${number}` : `Cell ${number}`,
    actions: [apply, ...atCell(tagged)]
  };
}

/** What is done next to a cell, and with its source. */
function atCell(cell: ICellPlace): ICodeAction[] {
  const name = nameOf(cell);
  return (['above', 'below', 'replace'] as const).map(act => ({
    act,
    label: `${ACT_LABELS[act]} ${name}`,
    reason: act === 'replace' ? unwritable(cell) : readOnly(cell),
    path: cell.path,
    cellId: cell.cellId
  }));
}

function ofActive({ active }: IPlaces): ICodeAction[] {
  return active
    ? atCell(active)
    : (['above', 'below', 'replace'] as const).map(act =>
        impossible(act, NO_NOTEBOOK)
      );
}

/** The cell is not in any open notebook: its own is to be opened first, or the cell is gone. */
function ofLost(
  block: IFencedBlock,
  cellId: string,
  places: IPlaces,
  notebook?: string
): ICodeActions {
  const [above, below] = ofActive(places);
  if (notebook && !places.isOpen(notebook)) {
    const name = PathExt.basename(notebook);
    const apply: ICodeAction = {
      act: 'apply',
      label: `Open ${name} and apply to its cell, as a diff`,
      reason: unfinished(block),
      path: notebook,
      cellId
    };
    const replace = impossible('replace', `${name} is not open.`);
    return {
      title: `In ${name}`,
      actions: [apply, above, below, replace]
    };
  }
  const gone = 'The target cell no longer exists.';
  return {
    title: 'Deleted cell',
    actions: [
      impossible('apply', gone),
      above,
      below,
      impossible('replace', gone)
    ]
  };
}

function ofFile(
  block: IFencedBlock,
  named: string,
  places: IPlaces
): ICodeActions {
  const path = named.replace(/^(\.?\/)+/, '');
  const name = PathExt.basename(path);
  const reason = path.endsWith('.ipynb')
    ? 'Notebooks are edited cell by cell.'
    : unfinished(block);
  const [above, below] = ofActive(places);
  return {
    title: name,
    actions: [
      { act: 'apply', label: `Apply to ${name}, as a diff`, reason, path },
      above,
      below,
      { act: 'replace', label: `Replace the text of ${name}`, reason, path }
    ]
  };
}

/** Half a source is no proposal: the answer broke off in it. */
function unfinished({ isComplete }: IFencedBlock): string | null {
  return isComplete ? null : 'The answer was cut off here.';
}

function readOnly({ isReadOnly, path }: ICellPlace): string | null {
  return isReadOnly ? `${PathExt.basename(path)} is read-only.` : null;
}

function unwritable(cell: ICellPlace): string | null {
  return (
    readOnly(cell) ??
    (cell.isLocked ? `Cell ${cell.number} is not editable.` : null)
  );
}

function impossible(act: CodeActionKind, reason: string): ICodeAction {
  return { act, label: ACT_LABELS[act], reason, path: '' };
}

function nameOf({ number, path }: ICellPlace): string {
  return `cell ${number} of ${PathExt.basename(path)}`;
}
