import { DocumentChanged } from '../api/types';
import { IEditor } from '../notebook/editor';

/** How old a change may be that the page follows, in ms. */
const FOLLOW_MS = 5000;

/** Bring into view what a turn that began at `since` changed just now; not what a reload repeats. */
export function follow(
  editor: IEditor,
  { path, changes, at }: DocumentChanged,
  since: number
): void {
  const shown = changes.filter(({ op, cellId }) => cellId && op !== 'delete');
  const cellId = shown[shown.length - 1]?.cellId;
  if (cellId && Math.abs(Date.now() - at) < FOLLOW_MS) {
    editor
      .follow(path, cellId, since)
      .catch(error => console.warn('datalayer-agent:', error));
  }
}
