import { PathExt } from '@jupyterlab/coreutils';

import { IFencedBlock } from '../../proposals';

/** What can be done with a code block of an answer, beside copying it. */
export type Act = 'apply' | 'above' | 'below' | 'replace';

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
  /** The active cell of the notebook in front; null where there is none. */
  readonly active: ICellPlace | null;
  /** A cell by its id, in this notebook or else in any that is open. */
  find(cellId: string, notebook?: string): ICellPlace | null;
  isOpen(path: string): boolean;
}

/** One thing that can be done with a block, or why it cannot. */
export interface IAction {
  act: Act;
  /** In words that name the target: "Insert below cell 3 of cars.ipynb". */
  label: string;
  /** Why it cannot be done; null where it can. */
  reason: string | null;
  /** The document that it is done in. */
  path: string;
  /** The cell that it is about; none in a file. */
  cellId?: string;
}

/** What can be done with a block, and what it is meant for, in a word or two. */
export interface IPlan {
  title: string;
  actions: readonly IAction[];
}

const WORDS: Record<Act, string> = {
  apply: 'Apply',
  above: 'Insert above',
  below: 'Insert below',
  replace: 'Replace'
};

const NO_NOTEBOOK = 'No notebook is in front.';

/** What can be done with a block of an answer that is about this notebook. */
export function planOf(
  block: IFencedBlock,
  places: IPlaces,
  notebook?: string
): IPlan {
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
  const apply: IAction = {
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
function atCell(cell: ICellPlace): IAction[] {
  const name = nameOf(cell);
  return (['above', 'below', 'replace'] as const).map(act => ({
    act,
    label: `${WORDS[act]} ${name}`,
    reason: act === 'replace' ? unwritable(cell) : readOnly(cell),
    path: cell.path,
    cellId: cell.cellId
  }));
}

function ofActive({ active }: IPlaces): IAction[] {
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
): IPlan {
  const [above, below] = ofActive(places);
  if (notebook && !places.isOpen(notebook)) {
    const name = PathExt.basename(notebook);
    const apply: IAction = {
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
  const gone = 'The cell that this is for is gone.';
  return {
    title: 'A cell that is gone',
    actions: [
      impossible('apply', gone),
      above,
      below,
      impossible('replace', gone)
    ]
  };
}

function ofFile(block: IFencedBlock, named: string, places: IPlaces): IPlan {
  const path = named.replace(/^(\.?\/)+/, '');
  const name = PathExt.basename(path);
  const reason = path.endsWith('.ipynb')
    ? 'A notebook is changed cell by cell.'
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
  return isComplete ? null : 'The answer was cut off in this block.';
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

function impossible(act: Act, reason: string): IAction {
  return { act, label: WORDS[act], reason, path: '' };
}

function nameOf({ number, path }: ICellPlace): string {
  return `cell ${number} of ${PathExt.basename(path)}`;
}
