import { Signal } from '@lumino/signaling';
import { DisposableDelegate, IDisposable } from '@lumino/disposable';

import { ConnectionStatus, IPageConnection } from '../../api/pageConnection';
import { IFile } from '../../api/client';
import { ApiError } from '../../api/errors';
import { IUploadOptions } from '../../api/upload';
import {
  ActionProposal,
  ChangesReply,
  ConnectRequest,
  ConnectionTestReply,
  ConnectionTestRequest,
  ConnectionsReply,
  ContextReply,
  Dataset,
  DatasetsReply,
  DryRunRequest,
  ErrorBody,
  Event,
  FileRenamed,
  FixesReply,
  FolderFileDecision,
  InstructionsReply,
  IntentReply,
  LessonChecked,
  LookReply,
  ModelsReply,
  Op,
  PromptsReply,
  QualityReport,
  ScratchpadReply,
  ScratchpadRequest,
  SearchHit,
  SearchReply,
  ServiceInfo,
  ServicesReply,
  Session,
  SessionCreate,
  SessionPatch,
  SessionsReply,
  StrategistReply,
  StrategistRequest,
  StrategistState,
  ToolCallRequest,
  ToolResult,
  ToolsReply,
  Turn,
  TurnPlace,
  TurnsReply,
  TutorialStarted,
  TutorialsReply,
  UsageBy,
  UsageReply,
  VariablesReply,
  WaitingSession,
  WorkflowsReply
} from '../../api/types';
import { datasetOf } from '../datasets/__tests__/datasetSamples';
import { FakeMcp } from '../mcp/__tests__/fakeMcp';
import { usageRow } from '../usage/__tests__/usageSamples';
import {
  ICellContent,
  ICellLabel,
  IEditor,
  IKernelState,
  IListedCell,
  INotebookError,
  ILexicalHints,
  INotebookHints
} from '../../notebook/editor';
import { IPanelClient, IPanelConnection } from '../../api/services';
import { IMemory } from '../../ui/memory';

/** A connection that keeps each session's events and hands out ops. */
export class FakeConnection implements IPanelConnection {
  readonly clientId = 'page_test';
  status: ConnectionStatus = 'idle';
  readonly statusChanged = new Signal<IPageConnection, ConnectionStatus>(
    this as unknown as IPageConnection
  );
  readonly reconnecting = new Signal<
    IPageConnection,
    { attempt: number; delayMs: number }
  >(this as unknown as IPageConnection);
  readonly rejected = new Signal<IPageConnection, ErrorBody>(
    this as unknown as IPageConnection
  );
  waiting: readonly WaitingSession[] = [];
  readonly modelsChanged = new Signal<IPageConnection, void>(
    this as unknown as IPageConnection
  );
  readonly waitingChanged = new Signal<IPageConnection, void>(
    this as unknown as IPageConnection
  );
  readonly fileRenamed = new Signal<IPageConnection, FileRenamed>(
    this as unknown as IPageConnection
  );
  renamesKnownUntil: number | undefined;
  readonly ops: { sessionId: string; op: Op }[] = [];
  readonly subscriptions: { sessionId: string; after: number }[] = [];
  focused = 0;
  refusal: ApiError | null = null;
  /** What the agent does with an op; tests and demonstrations set it. */
  onOp: (sessionId: string, op: Op, opId: string) => void = () => undefined;

  connect(): void {
    if (this.status === 'idle') {
      this.setStatus('connected');
    }
  }

  setStatus(status: ConnectionStatus): void {
    this.status = status;
    this.statusChanged.emit(status);
  }

  async submit(sessionId: string, op: Op): Promise<string> {
    if (this.refusal) {
      throw this.refusal;
    }
    this.ops.push({ sessionId, op });
    const opId = `op_${this.ops.length}`;
    setTimeout(() => this.onOp(sessionId, op, opId));
    return opId;
  }

  subscribe(
    sessionId: string,
    after: number,
    handler: (event: Event) => void
  ): IDisposable {
    this.subscriptions.push({ sessionId, after });
    for (const event of this._log(sessionId)) {
      if (event.seq > after) {
        handler(event);
      }
    }
    const entry = { sessionId, handler };
    this._handlers.add(entry);
    return new DisposableDelegate(() => this._handlers.delete(entry));
  }

  inputFocused(): void {
    this.focused += 1;
  }

  /** Something happens in a session. */
  emit(sessionId: string, event: EventInput): Event {
    const log = this._log(sessionId);
    // As the server does: what could not be stored has the number 0, and does not come again.
    const isUnsaved = (event as Partial<Event>).seq === 0;
    const whole = {
      at: Date.now(),
      ...event,
      seq: isUnsaved ? 0 : log.length + 1
    } as Event;
    if (!isUnsaved) {
      log.push(whole);
    }
    for (const { sessionId: id, handler } of [...this._handlers]) {
      if (id === sessionId) {
        handler(whole);
      }
    }
    return whole;
  }

  /** The events of a session so far. */
  events(sessionId: string): readonly Event[] {
    return this._log(sessionId);
  }

  private _log(sessionId: string): Event[] {
    let log = this._logs.get(sessionId);
    if (!log) {
      log = [];
      this._logs.set(sessionId, log);
    }
    return log;
  }

  private readonly _logs = new Map<string, Event[]>();
  private readonly _handlers = new Set<{
    sessionId: string;
    handler: (event: Event) => void;
  }>();
}

/** An event before it has a number. */
export type EventInput = Event extends infer E
  ? E extends Event
    ? Omit<E, 'seq' | 'at'> & { at?: number }
    : never
  : never;

/** Models of which one is ready. */
export const READY: ModelsReply = {
  models: [
    {
      id: 'openai/gpt-test',
      label: 'GPT Test',
      provider: 'openai',
      ready: true,
      vision: false
    },
    {
      id: 'anthropic/claude-test',
      label: 'Claude Test',
      provider: 'anthropic',
      ready: false,
      reason: 'ANTHROPIC_API_KEY is not set',
      vision: true
    }
  ],
  default: 'openai/gpt-test',
  locked: false,
  canConnect: true,
  lockedChoices: [],
  ready: true,
  connections: []
};

/** One provider to connect, and no keyring. */
export const NOTHING_CONNECTED: ConnectionsReply = {
  connections: [],
  providers: [
    {
      id: 'anthropic',
      label: 'Anthropic',
      models: [{ id: 'anthropic/claude-test', label: 'Claude Test' }],
      fields: [],
      signIns: [],
      modelLabel: 'Model',
      modelExample: ''
    }
  ],
  keyringProblem: 'This computer has no usable keyring.',
  keyFolder: '/home/me/keys',
  modelLocked: false
};

/** The server's routes, over sessions in memory. */
export class FakeClient implements IPanelClient {
  readonly sessions = new Map<string, Session>();
  readonly turns = new Map<string, Turn[]>();
  readonly patches: SessionPatch[] = [];
  modelsReply: ModelsReply = READY;

  async listSessions(): Promise<SessionsReply> {
    const sessions = [...this.sessions.values()];
    return { sessions: sessions.sort((a, b) => b.updatedAt - a.updatedAt) };
  }

  async createSession(body: SessionCreate = {}): Promise<Session> {
    const id = `ses_${this.sessions.size + 1}`;
    const session: Session = {
      id,
      kind: 'chat',
      title: body.title ?? 'New session',
      createdAt: Date.now(),
      updatedAt: Date.now(),
      settings: body.settings ?? {},
      turnCount: 0,
      lastSeq: 0,
      sessionTokens: 0
    };
    this.sessions.set(id, session);
    return session;
  }

  async getSession(id: string): Promise<Session> {
    const session = this.sessions.get(id);
    if (!session) {
      throw new ApiError('not_found', `There is no session ${id}.`);
    }
    return session;
  }

  async patchSession(id: string, body: SessionPatch): Promise<Session> {
    this.patches.push(body);
    const session = { ...(await this.getSession(id)) };
    session.title = body.title ?? session.title;
    session.settings = { ...session.settings, ...body.settings };
    this.sessions.set(id, session);
    return session;
  }

  async deleteSession(id: string): Promise<void> {
    await this.getSession(id);
    this.sessions.delete(id);
  }

  async listTurns(
    sessionId: string,
    options: {
      limit?: number;
      before?: string;
      after?: string;
      around?: string;
    } = {}
  ): Promise<TurnsReply> {
    const all = this.turns.get(sessionId) ?? [];
    const { limit = 20, before, after, around } = options;
    const at = (id: string) => all.findIndex(turn => turn.id === id);
    let end = before ? at(before) : all.length;
    if (after) {
      end = Math.min(end, at(after) + 1 + limit);
    }
    if (around) {
      end = Math.min(end, Math.max(limit, at(around) + limit / 2));
    }
    const start = Math.max(0, end - limit, after ? at(after) + 1 : 0);
    return {
      turns: all.slice(start, end),
      before: start > 0 ? all[start].id : undefined,
      after: end < all.length ? all[end - 1].id : undefined
    };
  }

  promptsReply: PromptsReply = { prompts: [] };
  readonly forks: { sessionId: string; turnId?: string }[] = [];
  changesReply: ChangesReply = {
    turnId: '',
    changes: [],
    diffs: [],
    states: []
  };

  async listPrompts(): Promise<PromptsReply> {
    return this.promptsReply;
  }

  async forkSession(
    sessionId: string,
    body: { turnId?: string } = {}
  ): Promise<Session> {
    this.forks.push({ sessionId, ...body });
    const made = await this.createSession({ title: 'Copy' });
    const { title } = await this.getSession(sessionId);
    const copy = { ...made, forkedFrom: { sessionId, title, ...body } };
    this.sessions.set(made.id, copy);
    return copy;
  }

  async exportSession(sessionId: string, format: string): Promise<IFile> {
    return { name: `${sessionId}.${format}`, type: 'text/plain', text: '{}' };
  }

  hits: SearchHit[] = [];
  readonly places = new Map<string, Pick<TurnPlace, 'turn' | 'responses'>>();
  strategistReply: Partial<StrategistReply> | ApiError = { reply: '' };
  readonly questions: StrategistRequest[] = [];

  async search({ q }: { q: string }): Promise<SearchReply> {
    return {
      results: this.hits.filter(({ snippet }) => snippet.includes(q))
    };
  }

  async getTurn(id: string): Promise<TurnPlace> {
    const place = this.places.get(id);
    if (!place) {
      throw new ApiError('not_found', `There is no turn ${id}.`);
    }
    return { sessionTitle: '', sessionKind: 'chat', ...place };
  }

  async askStrategist(body: StrategistRequest): Promise<StrategistReply> {
    this.questions.push(body);
    if (this.strategistReply instanceof ApiError) {
      throw this.strategistReply;
    }
    return {
      sessionId: 'ses_s',
      turnId: 'trn_s',
      status: 'completed',
      mode: 'ask',
      notebookMode: 'off',
      toolCalls: [],
      changes: [],
      citations: [],
      unknownCitations: [],
      ...this.strategistReply
    } as unknown as StrategistReply;
  }

  async strategist(): Promise<StrategistState> {
    return { sessionId: 'ses_s' };
  }

  readonly kept: ScratchpadRequest[] = [];

  async addToScratchpad(body: ScratchpadRequest): Promise<ScratchpadReply> {
    this.kept.push(body);
    return {
      path: body.path ?? 'scratchpad.ipynb',
      created: false,
      cellIds: (body.cells ?? []).map((_, index) => `new-${index}`)
    };
  }

  async turnChanges(): Promise<ChangesReply> {
    return this.changesReply;
  }

  async turnBlocks(): Promise<ChangesReply> {
    return this.changesReply;
  }

  async context(): Promise<ContextReply> {
    return {
      text: 'Cell 1: import pandas',
      tokens: 1234,
      parts: [],
      notebookMode: 'off'
    };
  }

  variablesReply: VariablesReply = { status: 'ok', variables: [], leftOut: 0 };

  async variables(_path: string): Promise<VariablesReply> {
    return this.variablesReply;
  }

  async listTools(): Promise<ToolsReply> {
    const tool = (name: string, description: string, reason?: string) => ({
      name,
      description,
      parameters: {},
      group: 'notebook',
      changes: false,
      destructive: false,
      parallel: true,
      aliases: [],
      enabled: !reason,
      reason
    });
    return {
      mode: 'ask',
      location: 'panel',
      notebookMode: 'read-only',
      tools: [
        {
          ...tool('getNotebookCells', 'Cells with their sources, for a model.'),
          label: { action: 'Read cells', activity: 'Reading cells' }
        },
        {
          ...tool(
            'runNotebookCells',
            'Run cells. Much more.',
            'only in Agent mode'
          ),
          changes: true
        },
        tool('listDatasets', 'List the data sets.')
      ]
    };
  }

  /** What tools answer, and what they were called with. */
  toolResult: Partial<ToolResult> = { ok: true };
  readonly toolCalls: { name: string; body?: ToolCallRequest }[] = [];

  async callTool(name: string, body?: ToolCallRequest): Promise<ToolResult> {
    this.toolCalls.push({ name, body });
    return { name, ok: true, durationMs: 1, ...this.toolResult } as ToolResult;
  }

  async models(): Promise<ModelsReply> {
    return this.modelsReply;
  }

  readonly mcp = new FakeMcp();
  /** The folder's `AGENTS.md`. */
  folderInstructions: InstructionsReply = {};
  instructions = async () => this.folderInstructions;
  decideOnInstructions = async ({ allowed }: FolderFileDecision) => {
    const { file } = this.folderInstructions;
    this.folderInstructions = {
      file: file && { ...file, allowed, declined: !allowed }
    };
    return this.folderInstructions;
  };
  connectionsReply: ConnectionsReply = NOTHING_CONNECTED;
  lookReply: LookReply = { looked: true, servers: [] };
  testReply: ConnectionTestReply = { ok: true, message: 'It answered.' };
  /** What was asked of the connections, in order. */
  readonly connecting: unknown[] = [];

  async connections(): Promise<ConnectionsReply> {
    return this.connectionsReply;
  }

  async lookForServers(again: boolean): Promise<LookReply> {
    this.connecting.push({ look: again });
    return this.lookReply;
  }

  async testConnection(
    body: ConnectionTestRequest
  ): Promise<ConnectionTestReply> {
    this.connecting.push({ test: body });
    return this.testReply;
  }

  async connectModel(body: ConnectRequest): Promise<ConnectionsReply> {
    this.connecting.push({ connect: body });
    return this.connectionsReply;
  }

  async forgetConnection(id: string): Promise<ConnectionsReply> {
    this.connecting.push({ forget: id });
    return this.connectionsReply;
  }

  workflowsReply: WorkflowsReply = { workflows: [] };
  fixesReply: FixesReply = { path: '', cellId: '', fixes: [] };
  usageReply = (by: UsageBy): UsageReply => ({
    by,
    days: 30,
    since: 0,
    total: usageRow('total'),
    rows: []
  });
  qualityReport: QualityReport = { score: 100, issues: [], suggestions: [] };
  tutorialsReply: TutorialsReply = { tutorials: [] };
  /** What the check of a lesson answers, and which lessons were checked. */
  verdict: Omit<LessonChecked, 'tutorial'> = { passed: false, feedback: '' };
  readonly checked: number[] = [];

  /** Data sets, and what an upload does: it becomes one, at once. */
  datasets: Dataset[] = [];
  limit = 5_000_000_000;
  uploading: (options: IUploadOptions) => Promise<Dataset> = async ({ file }) =>
    datasetOf(file.name.replace(/\..*/, ''), file.name);

  async listDatasets(): Promise<DatasetsReply> {
    return { datasets: [...this.datasets], maxUploadBytes: this.limit };
  }

  async deleteDataset(name: string): Promise<void> {
    this.datasets = this.datasets.filter(each => each.name !== name);
  }

  async upload(options: IUploadOptions): Promise<Dataset> {
    const dataset = await this.uploading(options);
    this.datasets.unshift(dataset);
    return dataset;
  }

  async listWorkflows(): Promise<WorkflowsReply> {
    return this.workflowsReply;
  }

  services: ServiceInfo[] = [];
  intentReply: IntentReply = {
    how: 'ranking',
    confidence: 0,
    alternatives: []
  };
  /** What a dry run answers, and what it was asked with. */
  proposal: (body: DryRunRequest) => ActionProposal = () => {
    throw new ApiError('not_found', 'There is no such action.');
  };
  readonly dryRuns: DryRunRequest[] = [];

  async listServices(): Promise<ServicesReply> {
    return { services: this.services, problems: [] };
  }

  async intent(): Promise<IntentReply> {
    return this.intentReply;
  }

  async dryRun(
    _service: string,
    _action: string,
    body: DryRunRequest
  ): Promise<ActionProposal> {
    this.dryRuns.push(body);
    return this.proposal(body);
  }

  readonly fixesAsked: string[] = [];

  async fixes({ cellId }: { cellId: string }): Promise<FixesReply> {
    this.fixesAsked.push(cellId);
    return { ...this.fixesReply, cellId };
  }

  async usage({ by }: { by: UsageBy }): Promise<UsageReply> {
    return this.usageReply(by);
  }

  async quality(): Promise<QualityReport> {
    return this.qualityReport;
  }

  async listTutorials(): Promise<TutorialsReply> {
    return this.tutorialsReply;
  }

  async startTutorial(id: string): Promise<TutorialStarted> {
    const path = `tutorials/${id}.ipynb`;
    const { tutorials } = this.tutorialsReply;
    this.tutorialsReply = {
      tutorials: tutorials.map(each =>
        each.id === id ? { ...each, notebook: path } : each
      )
    };
    return { path, created: true };
  }

  async checkLesson(id: string, lesson: number): Promise<LessonChecked> {
    this.checked.push(lesson);
    const found = this.tutorialsReply.tutorials.find(each => each.id === id)!;
    const tutorial = {
      ...found,
      lessons: found.lessons.map(each =>
        each.number === lesson
          ? { ...each, done: each.done || this.verdict.passed }
          : each
      )
    };
    return { ...this.verdict, tutorial };
  }
}

/** One open notebook. */
export class FakeEditor implements IEditor {
  /** A Lexical document that is active, in place of the notebook. */
  activeLexical: string | null = null;
  get activeDocument(): string | null {
    return this.activeLexical ?? this.activeNotebook;
  }
  readonly changed = new Signal<IEditor, void>(this as unknown as IEditor);
  readonly ran = new Signal<IEditor, { path: string; cellId: string }>(
    this as unknown as IEditor
  );
  activeNotebook: string | null = 'cars.ipynb';
  openNotebooks: readonly string[] = ['cars.ipynb'];
  notebookHints: INotebookHints = { isEmpty: false };
  errors: Record<string, INotebookError> = {};
  readonly failed = new Signal<IEditor, { path: string; cellId: string }>(
    this as unknown as IEditor
  );
  cells: Record<string, ICellLabel> = {
    c4: { number: 4, firstLine: 'cars.groupby("Origin")' },
    c5: { number: 5, firstLine: 'cars["Horsepower"].mean()' }
  };
  readonly followed: { path: string; cellId: string }[] = [];
  /** What `openFirst` finds, and what it was asked for. */
  files: readonly string[] = [];
  readonly opened: (readonly string[])[] = [];
  readonly revealed: { path: string; cellId?: string }[] = [];

  kernel(): IKernelState | null {
    return { name: 'Python 3', status: 'idle' };
  }

  cell(_path: string, cellId: string): ICellLabel | null {
    return this.cells[cellId] ?? null;
  }

  cellCount(): number | null {
    return 5;
  }

  cellAt(): { path: string; cellId: string } | null {
    return null;
  }

  listed: readonly IListedCell[] = [];

  listCells(): readonly IListedCell[] {
    return this.listed;
  }

  hints(): INotebookHints {
    return this.notebookHints;
  }

  documentHints: ILexicalHints = { isEmpty: false };

  lexicalHints(): ILexicalHints {
    return this.documentHints;
  }

  errorOf(_path: string, cellId: string): INotebookError | null {
    return this.errors[cellId] ?? null;
  }

  async reveal(path: string, cellId?: string): Promise<void> {
    this.revealed.push({ path, cellId });
  }

  async openFirst(paths: readonly string[]): Promise<boolean> {
    this.opened.push(paths);
    return paths.some(path => this.files.includes(path));
  }

  async follow(path: string, cellId: string): Promise<void> {
    this.followed.push({ path, cellId });
  }

  lessonCell(_path: string, lesson: number): string | null {
    return `lesson-${lesson}`;
  }

  async dataFiles(): Promise<string[]> {
    return ['cars.csv', 'data/penguins.csv'];
  }

  markedScratchpad: string | null = null;
  readonly openedBeside: string[] = [];
  contents: Record<string, ICellContent> = {};

  async openBeside(path: string): Promise<void> {
    this.openedBeside.push(path);
  }

  cellContent(_path: string, cellId: string): ICellContent | null {
    return this.contents[cellId] ?? null;
  }

  readonly saved: { name: string; content: string }[] = [];

  async openNew(name: string, content: string): Promise<string> {
    this.saved.push({ name, content });
    return name;
  }

  async chooseFiles(): Promise<string[]> {
    return ['data/cars.csv'];
  }
}

/** A memory that lasts as long as the test. */
export class FakeMemory implements IMemory {
  constructor(public sessionId: string | null = null) {}

  async load(): Promise<string | null> {
    return this.sessionId;
  }

  save(sessionId: string | null): void {
    this.sessionId = sessionId;
  }
}
