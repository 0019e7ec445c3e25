import type { IChangesSource } from '../changes/source';
import { ChangesDesk } from './changesDesk';
import type { Following } from './following';
import type { PanelModel } from './model';
import type { IPanelConnection } from './services';

/** What the panel knows of changes, for what shows them in the notebooks. */
export function changesSource(
  model: PanelModel,
  connection: IPanelConnection,
  following: Following
): IChangesSource {
  return {
    client: model.client,
    changes: model.changes,
    editor: model.editor,
    shown: model.shown,
    following,
    deciderOf: sessionId =>
      new ChangesDesk(
        async op => {
          await connection.submit(sessionId, op);
        },
        (level, message) => model.notice.set({ level, message })
      ),
    listen: (sessionId, store, told) =>
      connection.subscribe(sessionId, store.lastSeq, event => {
        store.apply(event);
        told(event);
      }),
    isDeleted: sessionId => model.sessions.isDeleted(sessionId)
  };
}
