import type { IPageConnection } from '../../api/pageConnection';
import type { IChangesSource } from '../../changes/source';
import { ChangesController } from './changesController';
import type { Following } from '../../session/following';
import { fill, load } from '../../session/history';
import type { PanelModel } from '../model';
import { ConversationStore } from '../../session/store';

/** What the panel knows of changes, for what shows them in the notebooks. */
export function changesSource(
  model: PanelModel,
  connection: IPageConnection,
  following: Following
): IChangesSource {
  return {
    client: model.client,
    changes: model.changes,
    editor: model.editor,
    shown: model.shown,
    following,
    deciderOf: sessionId =>
      new ChangesController(
        async op => {
          await connection.submit(sessionId, op);
        },
        (level, message) => model.notice.set({ level, message })
      ),
    listen: (sessionId, store, onEvent) =>
      connection.subscribe(sessionId, store.lastSeq, event => {
        store.apply(event);
        onEvent(event);
      }),
    touched: connection.touched,
    connected: connection.connected,
    get isConnected() {
      return connection.status === 'connected';
    },
    waitingIn: async path => {
      const { sessions } = await model.client.listSessions({ undecided: path });
      return sessions.map(({ id }) => id);
    },
    read: async sessionId => {
      const loaded = await load(model.client, sessionId);
      const store = new ConversationStore();
      fill(store, loaded);
      return { store, isRunning: loaded.session.runningTurnId !== undefined };
    },
    isDeleted: sessionId => model.sessions.isDeleted(sessionId)
  };
}
