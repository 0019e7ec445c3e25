import { IDisposable } from '@lumino/disposable';

import { ApiError } from '../api/errors';
import {
  ContextReply,
  DocumentChanged,
  Event,
  Mode,
  ModelsReply,
  Op
} from '../api/types';
import { Choices } from './choices';
import { IEditor } from './editor';
import { Link } from './link';
import { Outbox } from './outbox';
import { IPanelClient, IPanelConnection, ISessionMemory } from './services';
import { ConversationStore } from './state/store';
import { Value } from './state/value';

/** Turns that are loaded at once. */
const PAGE = 20;

/** How old a change may be that the page follows, in ms. */
const FOLLOW_MS = 5000;

/** A sentence above the input. */
export interface INotice {
  level: 'error' | 'info';
  message: string;
}

/** Which session is shown, and how far it is loaded. */
export interface IShown {
  sessionId: string | null;
  store: ConversationStore;
  isLoading: boolean;
  /** Ask for turns before this one; undefined when all are here. */
  before?: string;
}

/** What a `PanelModel` is made of. */
export interface IPanelModelOptions {
  client: IPanelClient;
  connection: IPanelConnection;
  editor: IEditor;
  memory: ISessionMemory;
}

/** The panel's state and what a person can do in it, without anything that is drawn. */
export class PanelModel implements IDisposable {
  constructor(options: IPanelModelOptions) {
    this.client = options.client;
    this.editor = options.editor;
    this._connection = options.connection;
    this._memory = options.memory;
    this._connection.rejected.connect(this._onRejected, this);
    // The server may have been started anew, with other keys.
    this.link = new Link(this._connection, () => void this.refreshModels());
    this.choices = new Choices(() => this._remember());
  }

  readonly client: IPanelClient;
  readonly editor: IEditor;
  readonly link: Link;
  readonly choices: Choices;
  readonly shown = new Value<IShown>(nothingShown());
  readonly models = new Value<ModelsReply | null>(null);
  readonly notice = new Value<INotice | null>(null);
  readonly sending = new Outbox();

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._subscription?.dispose();
    this.link.dispose();
    this._connection.rejected.disconnect(this._onRejected, this);
  }

  /** Connect, and show the session that the page showed last. */
  async start(): Promise<void> {
    this._connection.connect();
    const sessionId = await this._memory.load();
    await Promise.all([
      this.refreshModels(),
      sessionId ? this.open(sessionId, true) : undefined
    ]);
  }

  /** Show an empty conversation; the session is made with its first message. */
  newSession(): void {
    this._subscription?.dispose();
    this._subscription = null;
    this._memory.save(null);
    this.notice.set(null);
    this.sending.set([]);
    this.shown.set(nothingShown());
  }

  /** Show a session: its newest turns, and what happens in it from now on. */
  async open(sessionId: string, isRestored = false): Promise<void> {
    this._subscription?.dispose();
    this._subscription = null;
    this.notice.set(null);
    const store = new ConversationStore();
    const shown = { sessionId, store, isLoading: true };
    this.sending.set([]);
    this.shown.set(shown);
    try {
      const history = await this.client.listTurns(sessionId, {
        limit: PAGE,
        events: true
      });
      // Read after the turns: what waits now starts in an event that is still to come.
      const session = await this.client.getSession(sessionId);
      if (this.shown.current.store !== store) {
        return;
      }
      store.conversation.patch({
        title: session.title,
        settings: session.settings,
        queued: session.queued ?? []
      });
      this.choices.restore(session.settings);
      // What still runs is drawn from its events, which come again with those that follow.
      const running = history.turns.find(turn => turn.status === 'running');
      const ended = history.turns.filter(turn => turn.status !== 'running');
      store.prepend(ended);
      const seen = ended.reduce((seq, turn) => Math.max(seq, turn.lastSeq), 0);
      store.resumeAfter(running ? running.firstSeq - 1 : seen);
      this.shown.set({ ...shown, isLoading: false, before: history.before });
      this._memory.save(sessionId);
      this._subscribe(sessionId, store);
    } catch (error) {
      if (this.shown.current.store === store) {
        this._openFailed(error, isRestored);
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
      const page = await this.client.listTurns(shown.sessionId, {
        limit: PAGE,
        before,
        events: true
      });
      shown.store.prepend(page.turns);
      before = page.before;
    } catch (error) {
      this._tell(error);
    }
    if (this.shown.current.store === shown.store) {
      this.shown.set({ ...shown, before, isLoading: false });
    }
  }

  /** Send a message; false, with a notice, where it could not be sent. */
  async send(message: string): Promise<boolean> {
    this.notice.set(null);
    if (this.link.current.status === 'offline') {
      return false; // The panel says so all the time.
    }
    const sending = this.sending.add(message);
    try {
      const sessionId = await this._ensureSession();
      const { mode, model, attachments } = this.choices.current;
      const opId = await this._connection.submit(sessionId, {
        type: 'user_message',
        request: {
          message,
          sessionId,
          mode,
          model,
          attachments: [...attachments],
          activeNotebook: this.editor.activeNotebook,
          clientId: this._connection.clientId,
          location: 'panel'
        }
      });
      this.sending.accepted(sending, opId);
      return true;
    } catch (error) {
      this.sending.remove(sending);
      this._tell(error);
      return false;
    }
  }

  /** Stop the running turn. */
  stop(): void {
    if (this.shown.current.store.conversation.current.runningTurnId) {
      this._submit({ type: 'interrupt' });
    }
  }

  /** Answer an act that waits for approval. */
  decide(
    approvalId: string,
    decision: 'approve' | 'approve_for_session' | 'deny',
    feedback?: string
  ): void {
    this._submit({
      type: 'approval_decision',
      approvalId,
      decision,
      feedback: feedback || undefined
    });
  }

  /** Answer a question. */
  answer(requestId: string, answer: string): void {
    this._submit({ type: 'user_input_answer', requestId, answer });
  }

  /** Take a waiting message back. */
  dequeue(opId: string): void {
    this._submit({ type: 'dequeue', opId });
  }

  /** Stop the running turn and take this message next. */
  sendNow(opId: string): void {
    this._submit({ type: 'send_now', opId });
  }

  /** Give the session another title. */
  async rename(title: string): Promise<void> {
    const { sessionId, store } = this.shown.current;
    if (!sessionId || !title.trim()) {
      return;
    }
    try {
      const session = await this.client.patchSession(sessionId, {
        title: title.trim().slice(0, 200)
      });
      store.conversation.patch({ title: session.title });
    } catch (error) {
      this._tell(error);
    }
  }

  setMode(mode: Mode): void {
    this.choices.choose({ mode });
  }

  setModel(model: string): void {
    this.choices.choose({ model });
  }

  /** Ask which models there are. */
  async refreshModels(): Promise<void> {
    try {
      this.models.set(await this.client.models());
    } catch (error) {
      this._tell(error);
    }
  }

  /** What the next message would send with it, as things are now. */
  context(): Promise<ContextReply> {
    const { mode, model, attachments } = this.choices.current;
    return this.client.context({
      sessionId: this.shown.current.sessionId ?? undefined,
      mode,
      model,
      attachments,
      activeNotebook: this.editor.activeNotebook,
      clientId: this._connection.clientId,
      location: 'panel'
    });
  }

  /** The person turned to the input. */
  inputFocused(): void {
    if (!this._wasFocused) {
      this._wasFocused = true;
      this._connection.inputFocused();
    }
  }

  private async _ensureSession(): Promise<string> {
    const { sessionId } = this.shown.current;
    if (sessionId) {
      return sessionId;
    }
    // Two messages in quick succession belong to one new session.
    this._creating ??= this._createSession().finally(() => {
      this._creating = null;
    });
    return this._creating;
  }

  private async _createSession(): Promise<string> {
    const { store } = this.shown.current;
    const session = await this.client.createSession({
      settings: this.choices.settings
    });
    if (this.shown.current.store === store) {
      store.conversation.patch({ title: session.title });
      store.resumeAfter(session.lastSeq);
      this.shown.patch({ sessionId: session.id });
      this._memory.save(session.id);
      this._subscribe(session.id, store);
    }
    return session.id;
  }

  private _subscribe(sessionId: string, store: ConversationStore): void {
    this._subscription = this._connection.subscribe(
      sessionId,
      store.lastSeq,
      event => {
        store.apply(event);
        this._onEvent(event);
      }
    );
  }

  /** Bring into view what was changed just now; not what a reload tells again. */
  private _follow({ path, changes, at }: DocumentChanged): void {
    const shown = changes.filter(({ op, cellId }) => cellId && op !== 'delete');
    const cellId = shown[shown.length - 1]?.cellId;
    if (cellId && Math.abs(Date.now() - at) < FOLLOW_MS) {
      this.editor
        .follow(path, cellId)
        .catch(error => console.warn('datalayer-agent:', error));
    }
  }

  /** What concerns the panel and not one turn. */
  private _onEvent(event: Event): void {
    this.sending.onEvent(event);
    if (event.type === 'document_changed') {
      this._follow(event);
    }
    if (!event.turnId && (event.type === 'error' || event.type === 'warning')) {
      this.notice.set({ level: 'error', message: event.message });
    }
    if (event.type === 'error' && event.code === 'no_model') {
      void this.refreshModels();
    }
  }

  private _submit(op: Op): void {
    const { sessionId } = this.shown.current;
    if (sessionId) {
      this._connection
        .submit(sessionId, op)
        .catch((error: unknown) => this._tell(error));
    }
  }

  private _remember(): void {
    const { sessionId } = this.shown.current;
    if (sessionId) {
      this.client
        .patchSession(sessionId, { settings: this.choices.settings })
        .catch((error: unknown) => this._tell(error));
    }
  }

  private _openFailed(error: unknown, isRestored: boolean): void {
    const isGone = error instanceof ApiError && error.code === 'not_found';
    if (isRestored && isGone) {
      this.newSession();
      return;
    }
    this.shown.patch({ isLoading: false });
    this._tell(error);
  }

  private _tell(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.notice.set({ level: 'error', message });
  }

  private _onRejected(_: unknown, { message }: { message: string }): void {
    this.notice.set({ level: 'error', message });
  }

  private readonly _connection: IPanelConnection;
  private readonly _memory: ISessionMemory;
  private _subscription: IDisposable | null = null;
  private _creating: Promise<string> | null = null;
  private _wasFocused = false;
  private _isDisposed = false;
}

function nothingShown(): IShown {
  return { sessionId: null, store: new ConversationStore(), isLoading: false };
}
