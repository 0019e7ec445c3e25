import { IDisposable } from '@lumino/disposable';

import { Event, Mode, Op } from '../api/types';
import { AnswersDesk } from './answersDesk';
import { ChangesDesk } from './changesDesk';
import { References } from './chat/references';
import { Choices } from './choices';
import { DatasetDesk } from './datasetDesk';
import {
  IWays,
  makeDatasets,
  makeFixes,
  makeGuide,
  makePast,
  makeScratchpad,
  makeStrategist
} from './desks';
import { IEditor } from './editor';
import { Elsewhere } from './elsewhere';
import { FixDesk } from './fixDesk';
import { follow } from './follow';
import { Guide } from './guide';
import { Link } from './link';
import { pathsUnderRoot } from './links';
import { IWork, MessageDesk } from './messageDesk';
import { IReadiness, Models, readinessOf } from './models';
import { INotice, IPanelModelOptions, ITold } from './modelOptions';
import { OwnOps } from './ownOps';
import { PastDesk } from './pastDesk';
import { PlanDesk } from './planDesk';
import { IPanelClient, IPanelConnection, ISessionMemory } from './services';
import { ScratchpadDesk } from './scratchpadDesk';
import { IShown, SessionDesk } from './sessionDesk';
import { runStale } from './stale';
import { staleWithout } from './state/stale';
import { ITurn } from './state/turn';
import { StrategistDesk } from './strategistDesk';
import { Value } from './state/value';

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
    this.choices = new Choices(() => this.sessions.remember());
    this.references = new References(this.client, this.editor, this.choices);
    this.sessions = this._makeSessions(options.memory);
    this.elsewhere = new Elsewhere(this._connection, this.sessions.shown);
    const ways = this._ways();
    this.datasets = makeDatasets(ways);
    this.messages = new MessageDesk(this, this._connection);
    this.fixes = makeFixes(ways);
    this.past = makePast(ways, options.ask);
    this.scratchpad = makeScratchpad(ways, told => this.told.set(told));
    this.strategist = makeStrategist(ways, options.strategistMemory ?? null);
    this.guide = makeGuide(ways, options.tutorialMemory ?? null);
    this.models = new Models(() => this.client.models());
    this.models.subscribe(() => this._onReadiness());
    this.choices.subscribe(() => this._onReadiness());
    this.models.subscribe(() => this._heedLock());
    this.choices.subscribe(() => this._heedLock());
    this.editor.ran.connect(this._onRan, this);
    this.editor.failed.connect(this._onFailed, this);
  }

  readonly client: IPanelClient;
  readonly editor: IEditor;
  readonly link: Link;
  readonly choices: Choices;
  /** What a message can refer to. */
  readonly references: References;
  /** The session that is shown, and what can be done with sessions. */
  readonly sessions: SessionDesk;
  /** The other sessions that wait for the person. */
  readonly elsewhere: Elsewhere;
  /** What this page asked of sessions. */
  readonly ops = new OwnOps();
  /** Uploads and data sets. */
  readonly datasets: DatasetDesk;
  /** Repairs of cells that failed. */
  readonly fixes: FixDesk;
  /** What can be done with what was said so far. */
  readonly past: PastDesk;
  readonly scratchpad: ScratchpadDesk;
  readonly strategist: StrategistDesk;
  readonly models: Models;
  readonly notice = new Value<INotice | null>(null);
  /** What was done in passing, said for a moment. */
  readonly told = new Value<ITold | null>(null);
  /** The person's messages on their way. */
  readonly messages: MessageDesk;
  /** What works without a model. */
  readonly guide: Guide;
  readonly plans = new PlanDesk(
    op => this._order(op),
    error => this.tell(error)
  );
  readonly answers = new AnswersDesk(
    op => this._order(op),
    error => this.tell(error)
  );
  readonly changes = new ChangesDesk(
    op => this._order(op),
    (level, message) => this.notice.set({ level, message })
  );

  get shown(): Value<IShown> {
    return this.sessions.shown;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this.sessions.dispose();
    this.elsewhere.dispose();
    this.datasets.dispose();
    this.link.dispose();
    this._connection.rejected.disconnect(this._onRejected, this);
    this.editor.ran.disconnect(this._onRan, this);
    this.editor.failed.disconnect(this._onFailed, this);
    this.guide.tutorials.dispose();
  }

  /** Connect, and show the session that the page showed last. */
  async start(): Promise<void> {
    this._connection.connect();
    const sessionId = await this._memory.load();
    await Promise.all([
      this.refreshModels(),
      this.guide.start(),
      sessionId
        ? this.sessions.open(sessionId, { isRestored: true })
        : undefined
    ]);
  }

  /** Send a message; false, with a notice, where it could not be sent. */
  send(message: string, work?: IWork): Promise<boolean> {
    return this.messages.send(message, work);
  }

  /** Send the message of a turn once more, with the ready workflow that it asked for. */
  sendAgain({ message, workflow, target }: ITurn): Promise<boolean> {
    return this.send(message, workflow && { workflow, notebook: target });
  }

  /** The card with the data sets. */
  showDatasets(): void {
    this.guide.card.set({ kind: 'datasets' });
    void this.datasets.refresh();
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

  /** Take back what the newest turn changed of which nothing is decided yet. */
  undoNewest(): void {
    const turnId = this.shown.current.store.undecided.current;
    if (turnId) {
      this.changes.undo(turnId);
    } else {
      this.notice.set({ level: 'info', message: 'There is nothing to undo.' });
    }
  }

  /** Run the cells whose outputs are older than their code. */
  async runStale(): Promise<void> {
    const { sessionId, store } = this.shown.current;
    const stale = store.stale.current;
    if (!stale) {
      return;
    }
    try {
      const { left, problem } = await runStale(this.client, stale, {
        clientId: this._connection.clientId,
        sessionId: sessionId ?? undefined
      });
      store.stale.set(left);
      if (problem) {
        this.notice.set({ level: 'error', message: problem });
      }
    } catch (error) {
      this.tell(error);
    }
  }

  /** Take a waiting message back. */
  dequeue(opId: string): void {
    this._submit({ type: 'dequeue', opId });
  }

  /** Stop the running turn and take this message next. */
  sendNow(opId: string): void {
    this._submit({ type: 'send_now', opId });
  }

  setMode(mode: Mode): void {
    this.choices.choose({ mode });
  }

  setModel(model: string): void {
    this.choices.choose({ model });
  }

  /** Where an administrator chose the model, what a session remembers of another one is past. */
  private _heedLock(): void {
    if (this.models.current?.locked && this.choices.current.model) {
      this.choices.patch({ model: undefined });
    }
  }

  /** Whether the next message could be answered. */
  get readiness(): IReadiness {
    return readinessOf(this.models.current, this.choices.current.model);
  }

  /** Ask which models there are. */
  async refreshModels(): Promise<void> {
    try {
      await this.models.refresh();
    } catch (error) {
      this.tell(error);
    }
  }

  /** Open what a relative link in an answer leads to. */
  async openLink(relative: string): Promise<void> {
    const paths = pathsUnderRoot(relative, this.editor.activeNotebook);
    try {
      if (!paths.length || !(await this.editor.openFirst(paths))) {
        const message = paths.length
          ? `There is no file ${relative} here.`
          : `${relative} leads out of JupyterLab's folder, and is not opened.`;
        this.notice.set({ level: 'info', message });
      }
    } catch (error) {
      this.tell(error);
    }
  }

  /** The person turned to the input. */
  inputFocused(): void {
    if (!this._wasFocused) {
      this._wasFocused = true;
      this._connection.inputFocused();
    }
  }

  /** What the desks share. */
  private _ways(): IWays {
    const { client, editor, sessions, choices } = this;
    return {
      client,
      clientId: this._connection.clientId,
      editor,
      sessions,
      choices,
      order: op => this._order(op),
      work: (message, workflow) => this.send(message, { workflow }),
      say: message => this.notice.set({ level: 'info', message }),
      tell: error => this.tell(error)
    };
  }

  private _makeSessions(memory: ISessionMemory): SessionDesk {
    return new SessionDesk({
      client: this.client,
      connection: this._connection,
      memory,
      choices: this.choices,
      onLeave: () => {
        this.notice.set(null);
        this.told.set(null);
        this.messages.sending.set([]);
        this.datasets.forgetReports();
      },
      onEvent: event => this._onEvent(event),
      tell: error => this.tell(error)
    });
  }

  /** What concerns the panel and not one turn. */
  private _onEvent(event: Event): void {
    if (event.type === 'session_deleted') {
      if (this.sessions.onDeleted()) {
        const message = 'This session was deleted in another tab.';
        this.notice.set({ level: 'info', message });
      }
      return;
    }
    if (this.ops.isOfOthers(event)) {
      return;
    }
    this.messages.onEvent(event);
    if (event.type === 'session_reset') {
      this.choices.forgetDatasets();
      this.datasets.forgetReports();
    }
    if (event.type === 'document_changed') {
      const turn = this.shown.current.store.turn(event.turnId ?? '').current;
      follow(this.editor, event, turn.startedAt);
    }
    this.changes.onEvent(event);
    this.past.onEvent(event);
    this.datasets.onEvent(event);
    const isShown = this.plans.onEvent(event);
    if (
      !event.turnId &&
      !isShown &&
      (event.type === 'error' || event.type === 'warning')
    ) {
      const level = event.type === 'error' ? 'error' : 'info';
      this.notice.set({ level, message: event.message });
    }
    if (event.type === 'error' && event.code === 'no_model') {
      void this.refreshModels();
    }
  }

  private _submit(op: Op): void {
    this._order(op).catch((error: unknown) => this.tell(error));
  }

  /** Put an op on the queue of the session that is shown. */
  private async _order(op: Op): Promise<void> {
    const { sessionId } = this.shown.current;
    if (sessionId) {
      this.ops.add(await this._connection.submit(sessionId, op));
    }
  }

  /** The person ran a cell: its output is not older than its code any more. */
  private _onRan(
    _: unknown,
    { path, cellId }: { path: string; cellId: string }
  ): void {
    const { stale } = this.shown.current.store;
    stale.set(staleWithout(stale.current, path, cellId));
    this.fixes.ran(path, cellId);
  }

  /** A cell failed; what fails in a turn is the turn's. */
  private _onFailed(
    _: unknown,
    { path, cellId }: { path: string; cellId: string }
  ): void {
    if (!this.shown.current.store.conversation.current.runningTurnId) {
      void this.fixes.failed(path, cellId);
    }
  }

  private _onReadiness(): void {
    if (this.notice.current?.needs === 'model' && this.readiness.isReady) {
      this.notice.set({
        level: 'info',
        message: 'A model is connected now. Your message can be sent.'
      });
    }
  }

  /** Say what went wrong. */
  tell(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.notice.set({ level: 'error', message });
  }

  private _onRejected(_: unknown, { message }: { message: string }): void {
    this.notice.set({ level: 'error', message });
  }

  private readonly _connection: IPanelConnection;
  private readonly _memory: ISessionMemory;
  private _wasFocused = false;
  private _isDisposed = false;
}
