import { IDisposable } from '@lumino/disposable';

import { ApiError } from '../../api/errors';
import { Event, SessionSettings } from '../../api/types';
import { ComposerState } from '../composer/composerState';
import { fill, load, loadAfter, loadBefore } from '../../session/history';
import { IPanelClient, IPanelConnection } from '../../api/services';
import { IMemory } from '../../ui/memory';
import { ConversationStore } from '../../session/store';
import { Observable } from '../../session/observable';

/** Which session is shown, and how far it is loaded. */
export interface IShown {
  sessionId: string | null;
  store: ConversationStore;
  isLoading: boolean;
  /** Ask for turns before this one; undefined when all are here. */
  before?: string;
  /** Ask for turns after this one; undefined where the newest is here. */
  after?: string;
}

/** A turn that the user asked to see: brought into view, and marked for a moment. */
export interface IMark {
  turnId: string;
}

/** What a `SessionController` works with, and whom it notifies. */
export interface ISessionControllerOptions {
  client: IPanelClient;
  connection: IPanelConnection;
  memory: IMemory;
  composerState: ComposerState;
  /** Another session is about to be shown. */
  onLeave: () => void;
  /** Something happened in the session that is shown; its store knows already. */
  onEvent: (event: Event) => void;
  reportError: (error: unknown) => void;
}

/** The session that is shown, and what a user can do with sessions. */
export class SessionController implements IDisposable {
  constructor(private readonly _options: ISessionControllerOptions) {}

  readonly shown = new Observable<IShown>(nothingShown());
  readonly marked = new Observable<IMark | null>(null);

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._subscription?.dispose();
  }

  /** Show an empty conversation; the session is made with its first message. */
  startNew(): void {
    this._leave();
    this.marked.set(null);
    this._options.memory.save(null);
    this.shown.set(nothingShown());
  }

  /** Show a session: its newest turns, or those around one, and what happens from now on. */
  async open(
    sessionId: string,
    { isRestored = false, at }: { isRestored?: boolean; at?: string } = {}
  ): Promise<void> {
    this._leave();
    this.marked.set(at ? { turnId: at } : null);
    const { client, composerState, memory } = this._options;
    const store = new ConversationStore();
    const shown = { sessionId, store, isLoading: true };
    this.shown.set(shown);
    try {
      const loaded = await load(client, sessionId, at);
      if (this.shown.current.store !== store) {
        return;
      }
      fill(store, loaded);
      composerState.restore(loaded.session.settings);
      const { before, after } = loaded.history;
      this.shown.set({ ...shown, isLoading: false, before, after });
      memory.save(sessionId);
      this._subscribe(sessionId, store);
    } catch (error) {
      if (this.shown.current.store === store) {
        this._openFailed(error, isRestored);
      }
    }
  }

  /** Bring a turn into view: of the session that is shown, or of another one. */
  async goTo(
    turnId: string,
    sessionId = this.shown.current.sessionId
  ): Promise<void> {
    const { sessionId: shownId, store } = this.shown.current;
    if (!sessionId) {
      return;
    }
    if (
      sessionId === shownId &&
      store.conversation.current.turnIds.includes(turnId)
    ) {
      this.marked.set({ turnId });
    } else {
      await this.open(sessionId, { at: turnId });
    }
  }

  /** Bring a turn into view of which only the id is known: what an answer cites. */
  async goToTurn(turnId: string): Promise<void> {
    const { turnIds } = this.shown.current.store.conversation.current;
    if (turnIds.includes(turnId)) {
      this.marked.set({ turnId });
      return;
    }
    try {
      const { turn } = await this._options.client.getTurn(turnId);
      await this.goTo(turnId, turn.sessionId);
    } catch (error) {
      this._options.reportError(error);
    }
  }

  /** Show the newest turns, where others are shown. */
  async goToEnd(): Promise<void> {
    const { sessionId, after } = this.shown.current;
    if (sessionId && after) {
      await this.open(sessionId);
    }
  }

  /** Load the turns after the newest one that is shown. */
  async loadNewer(): Promise<void> {
    const shown = this.shown.current;
    const { sessionId, store } = shown;
    if (!sessionId || !shown.after || shown.isLoading) {
      return;
    }
    this.shown.set({ ...shown, isLoading: true });
    let after: string | undefined = shown.after;
    let isRunning = false;
    try {
      ({ after, isRunning } = await loadAfter(
        this._options.client,
        sessionId,
        after,
        store
      ));
    } catch (error) {
      this._options.reportError(error);
    }
    if (this.shown.current.store === store) {
      this.shown.patch({ after, isLoading: false });
      if (isRunning) {
        this._subscription?.dispose();
        this._subscribe(sessionId, store);
      }
    }
  }

  /** Load the turns before the oldest one that is shown. */
  async loadOlder(): Promise<void> {
    const shown = this.shown.current;
    if (!shown.sessionId || !shown.before || shown.isLoading) {
      return;
    }
    this.shown.set({ ...shown, isLoading: true });
    let before: string | undefined = shown.before;
    try {
      before = await loadBefore(
        this._options.client,
        shown.sessionId,
        before,
        shown.store
      );
    } catch (error) {
      this._options.reportError(error);
    }
    if (this.shown.current.store === shown.store) {
      this.shown.set({ ...shown, before, isLoading: false });
    }
  }

  /** Give a session another title: the one that is shown, or another. */
  async rename(
    title: string,
    sessionId = this.shown.current.sessionId
  ): Promise<void> {
    if (!sessionId || !title.trim()) {
      return;
    }
    try {
      const session = await this._options.client.patchSession(sessionId, {
        title: title.trim().slice(0, 200)
      });
      const { sessionId: shownId, store } = this.shown.current;
      if (shownId === sessionId) {
        store.conversation.patch({ title: session.title });
      }
    } catch (error) {
      this._options.reportError(error);
    }
  }

  /**
   * Delete a session with all that was said in it; what runs in it is stopped. Where it is the one
   * that is shown, a new one takes its place. False, with a notice, where it could not be deleted.
   */
  async delete(sessionId: string): Promise<boolean> {
    this._deleting = sessionId;
    try {
      await this._options.client.deleteSession(sessionId);
    } catch (error) {
      // Deleted in another tab: it is gone, as wanted.
      if (!isGone(error)) {
        this._options.reportError(error);
        return false;
      }
    }
    this._deleted.add(sessionId);
    if (this.shown.current.sessionId === sessionId) {
      this.startNew();
    }
    return true;
  }

  /** Whether a session was deleted here, or while it was shown. */
  isDeleted(sessionId: string): boolean {
    return this._deleted.has(sessionId);
  }

  /** The session that is shown was deleted: true if elsewhere, where nobody here expects it. */
  onDeleted(): boolean {
    const { sessionId } = this.shown.current;
    this._deleted.add(sessionId);
    if (sessionId === this._deleting) {
      return false;
    }
    this.startNew();
    return true;
  }

  /**
   * The id of the session that is shown, or was, which is made if it is a new one, with what was
   * chosen for it.
   */
  async ensure(
    { sessionId, store }: IShown = this.shown.current,
    settings = this._options.composerState.settings
  ): Promise<string> {
    if (sessionId) {
      return sessionId;
    }
    // Two messages in quick succession belong to one new session.
    let made = this._made.get(store);
    if (!made) {
      made = this._create(store, settings);
      this._made.set(store, made);
      made.catch(() => this._made.delete(store));
    }
    return made;
  }

  /** Whether this is what is shown now. */
  isShown({ store }: IShown): boolean {
    return this.shown.current.store === store;
  }

  /** Keep what the user chose with the session that is shown. */
  remember(): void {
    const { sessionId } = this.shown.current;
    const { client, composerState, reportError } = this._options;
    if (sessionId) {
      client
        .patchSession(sessionId, { settings: composerState.settings })
        .catch(reportError);
    }
  }

  private async _create(
    store: ConversationStore,
    settings: SessionSettings
  ): Promise<string> {
    const { client, memory } = this._options;
    const session = await client.createSession({ settings });
    if (this.shown.current.store === store) {
      store.conversation.patch({ title: session.title });
      store.resumeAfter(session.lastSeq);
      this.shown.patch({ sessionId: session.id });
      memory.save(session.id);
      this._subscribe(session.id, store);
    }
    return session.id;
  }

  private _subscribe(sessionId: string, store: ConversationStore): void {
    this._subscription = this._options.connection.subscribe(
      sessionId,
      store.lastSeq,
      event => {
        if (event.type === 'turn_started' && this.shown.current.after) {
          // It follows turns that are not here; the conversation is shown where it goes on.
          void this.goToEnd();
          return;
        }
        store.apply(event);
        this._options.onEvent(event);
      }
    );
  }

  private _leave(): void {
    this._subscription?.dispose();
    this._subscription = null;
    this._options.onLeave();
  }

  private _openFailed(error: unknown, isRestored: boolean): void {
    if (isRestored && isGone(error)) {
      this.startNew();
      return;
    }
    this.shown.patch({ isLoading: false });
    this._options.reportError(error);
  }

  private _subscription: IDisposable | null = null;
  /** The sessions that are made, or being made, of new conversations. */
  private readonly _made = new WeakMap<ConversationStore, Promise<string>>();
  /** What this page deletes, or deleted last. */
  private _deleting: string | null = null;
  private readonly _deleted = new Set<string | null>();
  private _isDisposed = false;
}

/** Whether what was asked for does not exist any more. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'not_found';
}

function nothingShown(): IShown {
  return { sessionId: null, store: new ConversationStore(), isLoading: false };
}
