import { Session, TurnsReply } from '../api/types';
import { IPanelClient } from '../api/services';
import { ConversationStore } from './store';

/** Turns that are loaded at once. */
const PAGE = 20;

/** A session as the server has it, and its newest turns. */
export interface ILoaded {
  session: Session;
  history: TurnsReply;
}

/** Read a session and its newest turns, or those around one. */
export async function load(
  client: IPanelClient,
  sessionId: string,
  around?: string
): Promise<ILoaded> {
  const [history, read] = await Promise.all([
    client.listTurns(sessionId, { limit: PAGE, around, events: true }),
    client.getSession(sessionId)
  ]);
  // Of the session after the turns were read: what waits now starts in an event that is still to
  // come.
  const isNewer = history.turns.every(turn =>
    turn.status === 'running'
      ? turn.firstSeq <= read.lastSeq
      : turn.lastSeq <= read.lastSeq
  );
  const session = isNewer ? read : await client.getSession(sessionId);
  return { session, history };
}

/** Put what was loaded into an empty store, which then expects the events that follow. */
export function fill(
  store: ConversationStore,
  { session, history }: ILoaded
): void {
  store.conversation.patch({
    title: session.title,
    settings: session.settings,
    forkedFrom: session.forkedFrom,
    queued: session.queued ?? []
  });
  // What still runs is drawn from its events, which come again with those that follow.
  const running = history.turns.find(turn => turn.status === 'running');
  const ended = history.turns.filter(turn => turn.status !== 'running');
  store.prepend(ended);
  if (history.after !== undefined) {
    // Turns that are not loaded follow: what happens next is reported, what happened is not.
    store.conversation.patch({ runningTurnId: session.runningTurnId });
    store.resumeAfter(session.lastSeq);
    return;
  }
  const seen = ended.reduce((seq, turn) => Math.max(seq, turn.lastSeq), 0);
  store.resumeAfter(running ? running.firstSeq - 1 : seen);
}

/**
 * Put the turns after one into its store; returns the turn to ask for next, if there are more, and
 * whether one runs, whose events are to be asked for again.
 */
export async function loadAfter(
  client: IPanelClient,
  sessionId: string,
  after: string,
  store: ConversationStore
): Promise<{ after?: string; isRunning: boolean }> {
  const page = await client.listTurns(sessionId, {
    limit: PAGE,
    after,
    events: true
  });
  const running = page.turns.find(turn => turn.status === 'running');
  store.append(page.turns.filter(turn => turn !== running));
  if (running) {
    store.expectAgain(running);
  }
  return { after: page.after, isRunning: !!running };
}

/** Put the turns before one into its store; returns the turn to ask for next, if there are more. */
export async function loadBefore(
  client: IPanelClient,
  sessionId: string,
  before: string,
  store: ConversationStore
): Promise<string | undefined> {
  const page = await client.listTurns(sessionId, {
    limit: PAGE,
    before,
    events: true
  });
  store.prepend(page.turns);
  return page.before;
}
