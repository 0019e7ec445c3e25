import { lineFeeds } from '../diff/lines';

/** A cell as a change left it. */
export interface IRecordedCell {
  readonly cellId: string;
  /** Its source; null where that is not known. */
  readonly source: string | null;
  /** Its place, counted from 0. */
  readonly index: number;
}

/** A notebook with the ids that its cells have now. */
export interface INamedCells {
  readonly cells: readonly { getId(): string; getSource(): string }[];
}

/** The cells of a notebook since it was loaded the last time. */
interface ILoaded {
  /** The ids that they have now by those under which changes are recorded. */
  readonly known: Map<string, string>;
  /** The ids of all that were there. */
  readonly seen: Set<string>;
}

const loaded = new WeakMap<object, ILoaded>();

/** The id that a cell has in the page; the one that is given, where the cell has no other. */
export function presentId(notebook: object, cellId: string): string {
  return loaded.get(notebook)?.known.get(cellId) ?? cellId;
}

/**
 * Find cells again in a notebook whose file has no ids, and which names its cells anew each time that
 * it is loaded: by their source, and of several with the same by their place. One that was changed
 * since is not found, and one that was deleted since is no other cell with the same source.
 */
export function findAgain(
  notebook: INamedCells,
  recorded: readonly IRecordedCell[]
): void {
  const { known, seen } = loadedCells(notebook);
  const missing = recorded.filter(
    ({ cellId }) => !known.has(cellId) && !seen.has(cellId)
  );
  if (!missing.length) {
    return;
  }
  const taken = new Set(
    recorded.map(({ cellId }) => known.get(cellId) ?? cellId)
  );
  const places = new Map<string, { id: string; place: number }[]>();
  notebook.cells.forEach((cell, place) => {
    const id = cell.getId();
    const text = lineFeeds(cell.getSource());
    if (!taken.has(id)) {
      const same = places.get(text) ?? [];
      same.push({ id, place });
      places.set(text, same);
    }
  });
  for (const { cellId, source, index } of missing) {
    const same = source === null ? [] : (places.get(lineFeeds(source)) ?? []);
    const away = same.map(({ place }) => Math.abs(place - index));
    const [nearest] = same.splice(away.indexOf(Math.min(...away)), 1);
    if (nearest) {
      known.set(cellId, nearest.id);
    }
  }
}

function loadedCells(notebook: INamedCells): ILoaded {
  const present = notebook.cells.map(cell => cell.getId());
  const before = loaded.get(notebook);
  const found =
    before && present.some(id => before.seen.has(id))
      ? before
      : { known: new Map<string, string>(), seen: new Set<string>() };
  present.forEach(id => found.seen.add(id));
  loaded.set(notebook, found);
  return found;
}
