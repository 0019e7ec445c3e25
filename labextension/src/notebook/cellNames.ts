import type { YNotebook } from '@jupyter/ydoc';

import { lineFeeds } from '../diff/lines';

/** A cell as a change left it. */
export interface IRecordedCell {
  readonly cellId: string;
  /** Its source; null where that is not known. */
  readonly source: string | null;
  /** Its place, counted from 0. */
  readonly index: number;
}

/** By notebook, the ids that cells have now by those under which changes are recorded. */
const names = new WeakMap<object, Map<string, string>>();

/** The id that a cell has in the page; the one that is given, where the cell has no other. */
export function presentId(notebook: object, cellId: string): string {
  return names.get(notebook)?.get(cellId) ?? cellId;
}

/**
 * Find cells again in a notebook whose file has no ids, and which names its cells anew each time that
 * it is loaded: by their source, and of several with the same by their place. One that was changed
 * since is not found.
 */
export function findAgain(
  notebook: Pick<YNotebook, 'cells'>,
  recorded: readonly IRecordedCell[]
): void {
  const present = notebook.cells.map(cell => cell.getId());
  const known = new Map(
    [...(names.get(notebook) ?? [])].filter(([, now]) => present.includes(now))
  );
  names.set(notebook, known);
  const isKnown = ({ cellId }: IRecordedCell) =>
    known.has(cellId) || present.includes(cellId);
  const taken = new Set(
    recorded.map(({ cellId }) => known.get(cellId) ?? cellId)
  );
  for (const { cellId, source, index } of recorded.filter(
    each => !isKnown(each)
  )) {
    const text = source === null ? null : lineFeeds(source);
    const [nearest] = present
      .map((id, place) => ({ id, away: Math.abs(place - index), place }))
      .filter(
        ({ id, place }) =>
          !taken.has(id) &&
          lineFeeds(notebook.cells[place].getSource()) === text
      )
      .sort((one, other) => one.away - other.away);
    if (nearest) {
      known.set(cellId, nearest.id);
      taken.add(nearest.id);
    }
  }
}
