import { fenced } from '../../proposals';
import { ICellContent, IEditor } from '../../notebook/editor';
import { pretty } from '../../ui/pretty';
import { IToolEntry } from '../../session/turn';

/** The cells that are kept of a call: those that it is about, as they are now, else its result. */
export function keptOf(
  call: IToolEntry,
  notebook: string | null,
  editor: Pick<IEditor, 'cellContent'>
): Partial<ICellContent> & { content: string }[] {
  const args = (call.arguments ?? {}) as { path?: unknown };
  const path = typeof args.path === 'string' ? args.path : notebook;
  const cells = path
    ? cellIdsOf(call).flatMap(id => editor.cellContent(path, id) ?? [])
    : [];
  return cells.length
    ? cells
    : [
        {
          content: fenced({
            language: 'text',
            source: pretty(call.output ?? call.summary ?? '')
          })
        }
      ];
}

/** The ids of the cells that a call changed, ran or read by name. */
function cellIdsOf(call: IToolEntry): string[] {
  const { cellIds, cellId } = (call.arguments ?? {}) as Record<string, unknown>;
  const named = Array.isArray(cellIds) ? cellIds : [cellId];
  const changed = call.changes.map(change => change.cellId);
  const ids = [...named, ...changed].filter(
    (id): id is string => typeof id === 'string'
  );
  return [...new Set(ids)];
}
