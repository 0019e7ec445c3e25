import { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { messageOf } from '../api/errors';
import { Event } from '../api/types';
import { AnswersController } from './answers/answersController';
import { CompareController } from './answers/compareController';
import { ChangesController } from './changes/changesController';
import { ConnectController } from './connect/connectController';
import { References } from './composer/attachments/references';
import { ComposerState } from './composer/composerState';
import { DatasetController } from './datasets/datasetController';
import {
  IPanelServices,
  makeDatasets,
  makeFixes,
  makeToolsPanel,
  makeHistory,
  makeServices,
  makeScratchpad,
  makeStrategist
} from './controllers';
import { IEditor } from '../notebook/editor';
import { OtherSessions } from './sessionList/otherSessions';
import { FixController } from './conversation/fixController';
import { follow } from '../session/followChange';
import { ToolsPanel } from './toolsPanel/toolsPanel';
import { Link } from './link';
import { pathsUnderRoot } from '../ui/links';
import { attachMade } from './composer/attachments/attachCreated';
import {
  ISubmitted,
  IWork,
  MessageController
} from './composer/messageController';
import { IReadiness, Models, readinessOf } from './composer/models';
import { INotice, IPanelModelOptions, IActionNotice } from './modelOptions';
import { NotebookQuestion } from './composer/notebookQuestion';
import { HistoryController } from './sessionList/historyController';
import { Ops } from './ops';
import { PlanController } from './plan/planController';
import { IPanelClient, IPanelConnection } from '../api/services';
import { IMemory } from '../ui/memory';
import { ScratchpadController } from './scratchpad/scratchpadController';
import { IShown, SessionController } from './sessionList/sessionController';
import { runStale } from './conversation/runStale';
import { staleWithout } from '../session/stale';
import { ITurn } from '../session/turn';
import { ServicesController } from './services/servicesController';
import { StrategistController } from './strategist/strategistController';
import { Observable } from '../session/observable';

/** The panel's state and what a user can do in it, without anything that is drawn. */
export class PanelModel implements IDisposable {
  constructor(options: IPanelModelOptions) {
    this.client = options.client;
    this.editor = options.editor;
    this._connection = options.connection;
    this._memory = options.memory;
    this._connection.rejected.connect(
      (_, error) => this.reportError(error.message),
      this
    );
    // The server may have been started anew, with other keys.
    this.ops = new Ops(
      options.connection,
      () => this.shown.current.sessionId,
      error => this.reportError(error)
    );
    this.link = new Link(this._connection, () => void this.refreshModels());
    this.composerState = new ComposerState(() => this.sessions.remember());
    this.references = new References(
      this.client,
      this.editor,
      this.composerState
    );
    this.sessions = this._makeSessions(options.memory);
    this.otherSessions = new OtherSessions(this._connection, this.shown);
    const services = this._services();
    this.datasets = makeDatasets(services);
    this.messages = new MessageController(this, this._connection);
    this.fixes = makeFixes(services);
    this.history = makeHistory(services, options.ask);
    this.scratchpad = makeScratchpad(services, notice =>
      this.actionNotice.set(notice)
    );
    this.strategist = makeStrategist(services, options.strategistMemory);
    this.services = makeServices(services);
    this.models = new Models(() => this.client.models());
    this.toolsPanel = makeToolsPanel(
      services,
      new ConnectController(this.client, this.models, this.composerState),
      options.tutorialMemory
    );
    // Nobody asked here: a failure is reported when somebody does.
    this._connection.modelsChanged.connect(
      () => void this.models.refresh().catch(() => undefined),
      this
    );
    this._connection.fileRenamed.connect(
      (_, rename) => this.composerState.renamed(rename),
      this
    );
    this.compare = new CompareController(this, options.compareMemory ?? null);
    this.models.subscribe(() => this._onModels());
    this.composerState.subscribe(() => this._onModels());
    this.editor.ran.connect(this._onRan, this);
    // What fails in a turn, of whatever session, is the turn's.
    this.editor.failed.connect(
      (_, { path, cellId }) => void this.fixes.failed(path, cellId),
      this
    );
  }

  readonly client: IPanelClient;
  readonly editor: IEditor;
  /** Whether the panel is on the screen. */
  readonly isSeen = new Observable(true);
  readonly link: Link;
  readonly composerState: ComposerState;
  /** What a message can refer to. */
  readonly references: References;
  /** The session that is shown, and what can be done with sessions. */
  readonly sessions: SessionController;
  /** The other sessions that wait for the user. */
  readonly otherSessions: OtherSessions;
  /** What this page asks of sessions. */
  readonly ops: Ops;
  /** Uploads and data sets. */
  readonly datasets: DatasetController;
  /** Fixes of cells that failed. */
  readonly fixes: FixController;
  /** Acts on the conversation history. */
  readonly history: HistoryController;
  readonly scratchpad: ScratchpadController;
  /** Services and their actions. */
  readonly services: ServicesController;
  readonly strategist: StrategistController;
  readonly models: Models;
  readonly notice = new Observable<INotice | null>(null);
  /** A short-lived notice with one action. */
  readonly actionNotice = new Observable<IActionNotice | null>(null);
  /** The user's messages on their way. */
  readonly messages: MessageController;
  /** What is asked before a message goes out that needs a notebook. */
  readonly notebookQuestion = new NotebookQuestion(this);
  /** What works without a model. */
  readonly toolsPanel: ToolsPanel;
  readonly plans = new PlanController(
    op => this.ops.submit(op),
    error => this.reportError(error)
  );
  /** A message to several models. */
  readonly compare: CompareController;
  readonly answers = new AnswersController(
    op => this.ops.submit(op),
    error => this.reportError(error)
  );
  readonly changes = new ChangesController(
    op => this.ops.submit(op),
    (level, message) => this.notice.set({ level, message })
  );

  get shown(): Observable<IShown> {
    return this.sessions.shown;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this.sessions.dispose();
    this.otherSessions.dispose();
    this.datasets.dispose();
    this.link.dispose();
    Signal.clearData(this);
    this.toolsPanel.tutorials.dispose();
  }

  /** Connect, and show the session that the page showed last. */
  async start(): Promise<void> {
    this._connection.connect();
    const sessionId = await this._memory.load();
    await Promise.all([
      this.refreshModels(),
      this.toolsPanel.start(),
      sessionId
        ? this.sessions.open(sessionId, { isRestored: true })
        : undefined
    ]);
  }

  /** Send a message; false, with a notice, where it could not be sent. */
  send(
    message: string,
    work?: IWork,
    submitted?: ISubmitted
  ): Promise<boolean> {
    return this.messages.send(message, work, submitted);
  }

  /** Send the message of a turn once more, with the ready workflow that it asked for. */
  sendAgain(
    { message, workflow, compare, target }: ITurn,
    submitted?: ISubmitted
  ): Promise<boolean> {
    const work = workflow ? { workflow, notebook: target } : { compare };
    const isPlain = !workflow && !compare;
    return this.send(message, isPlain ? undefined : work, submitted);
  }

  /** The card with the data sets. */
  showDatasets(): void {
    this.toolsPanel.card.set({ kind: 'datasets' });
    void this.datasets.refresh();
  }

  /** Stop the running turn; messages that wait are kept until they are sent. */
  stop(): void {
    if (this.shown.current.store.conversation.current.runningTurnId) {
      this.ops.send({ type: 'interrupt', hold: true });
    }
  }

  /** Answer an act that waits for approval. */
  decide(
    approvalId: string,
    decision: 'approve' | 'approve_for_session' | 'deny',
    feedback?: string
  ): void {
    this.ops.send({
      type: 'approval_decision',
      approvalId,
      decision,
      feedback: feedback || undefined
    });
  }

  /** Answer a question. */
  answer(requestId: string, answer: string): void {
    this.ops.send({ type: 'user_input_answer', requestId, answer });
  }

  /** Take back what the newest turn changed of which nothing is decided yet. */
  undoNewest(): void {
    const turnId = this.shown.current.store.undecided.current;
    if (turnId) {
      this.changes.undo(turnId);
    } else {
      this._notify('Nothing to undo.');
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
      this.reportError(error);
    }
  }

  /** Whether a message to this model, or to the default one, could be answered. */
  readinessOf(model: string | undefined): IReadiness {
    return readinessOf(this.models.current, model);
  }

  /** Ask which models there are. */
  async refreshModels(): Promise<void> {
    try {
      await this.models.refresh();
    } catch (error) {
      this.reportError(error);
    }
  }

  /** Open what a relative link in an answer leads to. */
  async openLink(relative: string): Promise<void> {
    const paths = pathsUnderRoot(relative, this.editor.activeNotebook);
    try {
      if (!paths.length || !(await this.editor.openFirst(paths))) {
        this._notify(
          paths.length
            ? `File not found: ${relative}`
            : `${relative} is outside JupyterLab's root folder and cannot be opened.`
        );
      }
    } catch (error) {
      this.reportError(error);
    }
  }

  /** The user turned to the input. */
  inputFocused(): void {
    if (!this._wasFocused) {
      this._wasFocused = true;
      this._connection.inputFocused();
    }
  }

  /** What the controllers share. */
  private _services(): IPanelServices {
    const { client, editor, sessions, composerState } = this;
    return {
      client,
      clientId: this._connection.clientId,
      editor,
      sessions,
      composerState,
      submit: (op, sessionId) => this.ops.submit(op, sessionId),
      work: (message, work) => this.send(message, work),
      notify: message => this._notify(message),
      reportError: error => this.reportError(error)
    };
  }

  private _makeSessions(memory: IMemory): SessionController {
    return new SessionController({
      client: this.client,
      connection: this._connection,
      memory,
      composerState: this.composerState,
      onLeave: () => {
        this.notice.set(null);
        this.actionNotice.set(null);
        this.messages.sending.set([]);
        this.datasets.forgetReports();
      },
      onEvent: event => this._onEvent(event),
      reportError: error => this.reportError(error)
    });
  }

  /** What concerns the panel and not one turn. */
  private _onEvent(event: Event): void {
    if (event.type === 'session_deleted') {
      if (this.sessions.onDeleted()) {
        this._notify('This session was deleted in another tab.');
      }
      return;
    }
    if (this.ops.isOfOthers(event)) {
      return;
    }
    this.messages.onEvent(event);
    attachMade(this.composerState, event);
    if (event.type === 'session_reset') {
      this.composerState.forgetDatasets();
      this.datasets.forgetReports();
    }
    if (event.type === 'document_changed') {
      const turn = this.shown.current.store.turn(event.turnId ?? '').current;
      follow(this.editor, event, turn.startedAt);
    }
    this.changes.onEvent(event);
    this.history.onEvent(event);
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

  /** A cell was run: its output is not older than its code any more. */
  private _onRan(
    _: unknown,
    { path, cellId }: { path: string; cellId: string }
  ): void {
    const { stale } = this.shown.current.store;
    stale.set(staleWithout(stale.current, path, cellId));
    this.fixes.ran(path, cellId);
  }

  /** Other models, or another choice among them. */
  private _onModels(): void {
    const { model } = this.composerState.current;
    const { isReady } = this.readinessOf(model);
    if (this.notice.current?.needs === 'model' && isReady) {
      this._notify('A model is connected. You can send your message.');
    }
    if (this.models.current) {
      this.composerState.forgetLocked(this.models.current);
    }
  }

  private _notify(message: string): void {
    this.notice.set({ level: 'info', message });
  }

  /** Report what went wrong, as a notice. */
  reportError(error: unknown): void {
    const message = messageOf(error);
    this.notice.set({ level: 'error', message });
  }

  private readonly _connection: IPanelConnection;
  private readonly _memory: IMemory;
  private _wasFocused = false;
  private _isDisposed = false;
}
