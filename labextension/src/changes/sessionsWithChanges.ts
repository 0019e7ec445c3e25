import type { IWidgetTracker } from '@jupyterlab/apputils';
import type { IDocumentWidget } from '@jupyterlab/docregistry';

import type { SessionsOnPage } from './sessionsOnPage';
import type { IChangesSource } from './source';

/**
 * Have the page listen to each conversation that changed a document which is open in it: one that
 * does so now, by the server's word, and those of which something waits from before.
 */
export function listenToOtherSessions<T extends IDocumentWidget>(
  source: IChangesSource,
  sessions: SessionsOnPage,
  tracker: IWidgetTracker<T>,
  pathOf: (panel: T) => string | null
): void {
  const adopt = (sessionId: string) =>
    sessions.adopt(sessionId).catch(() => undefined); // Deleted meanwhile, or asked again later.
  const refresh = async (panel: T) => {
    await panel.context.ready;
    const path = panel.isDisposed ? null : pathOf(panel);
    if (path !== null && source.isConnected) {
      const waiting = await source.waitingIn(path).catch(() => []);
      await Promise.all(waiting.map(adopt));
    }
  };
  tracker.forEach(panel => void refresh(panel));
  tracker.widgetAdded.connect((_, panel) => void refresh(panel));
  // What was said while there was no connection was not heard.
  source.connected.connect(() => tracker.forEach(panel => void refresh(panel)));
  source.touched.connect((_, { sessionId }) => void adopt(sessionId));
}
