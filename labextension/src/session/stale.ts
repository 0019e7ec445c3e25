import { pathAfter } from '../api/renames';
import { Event } from '../api/types';

/** Code cells of a notebook whose outputs are older than the code that they follow from. */
export interface IStale {
  path: string;
  cellIds: readonly string[];
}

/** What is stale after one more event. */
export function staleAfter(stale: IStale | null, event: Event): IStale | null {
  switch (event.type) {
    case 'cells_stale':
      if (event.cellIds.length) {
        return { path: event.path, cellIds: event.cellIds };
      }
      return stale?.path === event.path ? null : stale;
    case 'document_renamed':
      return stale && { ...stale, path: pathAfter(stale.path, event) };
    case 'changes_undone':
      // What follows from what is another question now; nobody has looked yet.
      return null;
    default:
      return stale;
  }
}

/** What is left of it when the user has run a cell. */
export function staleWithout(
  stale: IStale | null,
  path: string,
  cellId: string
): IStale | null {
  if (stale?.path !== path || !stale.cellIds.includes(cellId)) {
    return stale;
  }
  const cellIds = stale.cellIds.filter(id => id !== cellId);
  return cellIds.length ? { path, cellIds } : null;
}
