import { ICellLabel } from '../notebook/editor';

/** The label of a cell by its id; null where no such cell is known. */
export type LabelOf = (cellId: string) => ICellLabel | null;

/** The keys under which ids of cells are in arguments and outputs. */
const ID_KEY = /^(cell_?)?ids?$|^(after|before)$/i;

/** A value with its cells named as people name them, and the ids that were replaced. */
export interface INamed {
  value: unknown;
  ids: ReadonlyMap<string, ICellLabel>;
}

/** Replace ids of cells that are known by "cell 4 · its first line". */
export function nameCells(value: unknown, labelOf: LabelOf): INamed {
  const ids = new Map<string, ICellLabel>();
  const named = (item: unknown, key = ''): unknown => {
    if (typeof item === 'string') {
      const label = ID_KEY.test(key) ? labelOf(item) : null;
      if (!label) {
        return item;
      }
      ids.set(item, label);
      return cellLabel(label);
    }
    if (Array.isArray(item)) {
      return item.map(each => named(each, key));
    }
    if (typeof item === 'object' && item !== null) {
      return Object.fromEntries(
        Object.entries(item).map(([name, each]) => {
          const next = named(each, name);
          return [next === each ? name : cellKey(name), next];
        })
      );
    }
    return item;
  };
  return { value: named(parsed(value)), ids };
}

/** "Cell 4: 3f2a…", a line each, for who needs the ids. */
export function idLabel(ids: INamed['ids']): string {
  return [...ids]
    .map(([id, { number }]) => `Cell ${number} has the id ${id}`)
    .join('\n');
}

function cellLabel({ number, firstLine }: ICellLabel): string {
  const line = firstLine.trim();
  const short = line.length > 60 ? `${line.slice(0, 59)}…` : line;
  return short ? `cell ${number} · ${short}` : `cell ${number}`;
}

/** What is there is not an id any more. */
function cellKey(key: string): string {
  return /^(cell_?)?id$/i.test(key)
    ? 'cell'
    : /^(cell_?)?ids$/i.test(key)
      ? 'cells'
      : key;
}

/** Outputs come as JSON in a text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) {
    return value;
  }
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
