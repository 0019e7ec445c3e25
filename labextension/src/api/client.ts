import { ServerConnection } from '@jupyterlab/services';

import { McpClient } from './mcpClient';
import { BASE_PATH, IRequestOptions, Transport } from './transport';
import { IUploadOptions, upload, uploadUrl } from './upload';
import {
  ActionProposal,
  ActsReply,
  ActsRequest,
  Attachment,
  ChangesReply,
  ConfigReply,
  ConnectRequest,
  ConnectionTestReply,
  ConnectionTestRequest,
  ConnectionsReply,
  ContextReply,
  Dataset,
  DatasetsReply,
  DryRunRequest,
  ExportFormat,
  FixAttempt,
  FixAttemptRequest,
  FixesReply,
  FolderFileDecision,
  ForkRequest,
  InstructionsReply,
  IntentReply,
  IntentRequest,
  LessonCheck,
  LessonChecked,
  Location,
  LookReply,
  Mode,
  ModelsReply,
  NextCellReply,
  NextCellRequest,
  PromptsReply,
  QualityReport,
  ScratchpadReply,
  ScratchpadRequest,
  SearchReply,
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
  TurnPlace,
  TurnsReply,
  TutorialStart,
  TutorialStarted,
  TutorialsReply,
  UsageBy,
  UsageReply,
  VariablesReply,
  WorkflowsReply
} from './types';

/** A text file that the server made. */
export interface IFile {
  name: string;
  type: string;
  text: string;
}

/**
 * The server's HTTP routes, with JupyterLab's own authentication.
 *
 * Every method rejects with an `ApiError`.
 */
export class AgentClient {
  constructor(
    readonly settings: ServerConnection.ISettings = ServerConnection.makeSettings()
  ) {
    this._transport = new Transport(settings);
  }

  /** MCP servers, whose tools the agent uses. */
  readonly mcp: Pick<McpClient, keyof McpClient> = new McpClient(
    (method, segments, options) => this._request(method, segments, options)
  );

  /** Sessions, newest first; `cursor` is the `nextCursor` of the page before. */
  listSessions(
    options: {
      query?: string;
      limit?: number;
      cursor?: string;
      /** Only those with changes in this document that wait for a decision. */
      undecided?: string;
    } = {}
  ): Promise<SessionsReply> {
    return this._request('GET', ['sessions'], { query: options });
  }

  createSession(body: SessionCreate = {}): Promise<Session> {
    return this._request('POST', ['sessions'], { body });
  }

  getSession(id: string): Promise<Session> {
    return this._request('GET', ['sessions', id]);
  }

  patchSession(id: string, body: SessionPatch): Promise<Session> {
    return this._request('PATCH', ['sessions', id], { body });
  }

  deleteSession(id: string): Promise<void> {
    return this._request('DELETE', ['sessions', id]);
  }

  /**
   * The newest turns, in order; `before` and `after` (a turn's id) ask for older and newer ones,
   * `around` for that turn with some on both sides. With `events`, each turn has the events that
   * draw it again.
   */
  listTurns(
    sessionId: string,
    options: {
      limit?: number;
      before?: string;
      after?: string;
      around?: string;
      events?: boolean;
    } = {}
  ): Promise<TurnsReply> {
    const { events, ...page } = options;
    return this._request('GET', ['sessions', sessionId, 'turns'], {
      query: { ...page, include: events ? 'events' : undefined }
    });
  }

  /** Every turn of a session in short, the oldest first. */
  listPrompts(sessionId: string): Promise<PromptsReply> {
    return this._request('GET', ['sessions', sessionId, 'prompts']);
  }

  /** A new session with the conversation up to a turn; left out, with all of it. */
  forkSession(sessionId: string, body: ForkRequest = {}): Promise<Session> {
    return this._request('POST', ['sessions', sessionId, 'fork'], { body });
  }

  /** A conversation as a file, with the name that the server gives it. */
  async exportSession(sessionId: string, format: ExportFormat): Promise<IFile> {
    const response = await this._transport.fetch(
      'GET',
      ['sessions', sessionId, 'export'],
      { query: { format } }
    );
    return {
      name: fileName(response) ?? `conversation.${format}`,
      type: response.headers.get('Content-Type') ?? 'text/plain',
      text: await response.text()
    };
  }

  /** What was said, in all sessions; the newest first. */
  search(query: { q: string; limit?: number }): Promise<SearchReply> {
    return this._request('GET', ['search'], { query });
  }

  /** A turn by its id alone, with where it belongs. */
  getTurn(id: string): Promise<TurnPlace> {
    return this._request('GET', ['turns', id]);
  }

  /** Ask about the past; it answers when the Strategist has. */
  askStrategist(body: StrategistRequest): Promise<StrategistReply> {
    return this._request('POST', ['strategist'], { body });
  }

  strategist(): Promise<StrategistState> {
    return this._request('GET', ['strategist']);
  }

  /** Add cells to the scratchpad, which is created if it does not exist. */
  addToScratchpad(body: ScratchpadRequest): Promise<ScratchpadReply> {
    return this._request('POST', ['scratchpad'], { body });
  }

  /** What a turn changed; with `before`, the cells as they were before it. */
  turnChanges(
    sessionId: string,
    turnId: string,
    before = false
  ): Promise<ChangesReply> {
    return this._request(
      'GET',
      ['sessions', sessionId, 'turns', turnId, 'changes'],
      { query: { include: before ? 'before' : undefined } }
    );
  }

  /** What a turn changed, with the blocks of Lexical documents, as these are now. */
  turnBlocks(sessionId: string, turnId: string): Promise<ChangesReply> {
    return this._request(
      'GET',
      ['sessions', sessionId, 'turns', turnId, 'changes'],
      { query: { include: 'blocks' } }
    );
  }

  /**
   * What a turn would send now, before its message. `path` counts as attached and, where it is a
   * notebook, as active; an `activeNotebook` of null means that none is.
   */
  context(
    options: {
      path?: string;
      clientId?: string;
      sessionId?: string;
      mode?: Mode;
      model?: string;
      location?: Location;
      attachments?: readonly Attachment[];
      activeNotebook?: string | null;
      toolReferences?: readonly string[];
    } = {}
  ): Promise<ContextReply> {
    const { attachments, activeNotebook, toolReferences, ...others } = options;
    return this._request('GET', ['context'], {
      query: {
        ...others,
        attachments: attachments && JSON.stringify(attachments),
        activeNotebook: activeNotebook === null ? '' : activeNotebook,
        toolReferences: toolReferences?.length
          ? JSON.stringify(toolReferences)
          : undefined
      }
    });
  }

  /** The variables of a notebook's kernel. */
  variables(path: string): Promise<VariablesReply> {
    return this._request('GET', ['variables'], { query: { path } });
  }

  listTools(
    options: {
      mode?: Mode;
      path?: string;
      attached?: boolean;
      location?: Location;
    } = {}
  ): Promise<ToolsReply> {
    return this._request('GET', ['tools'], { query: options });
  }

  callTool(name: string, body: ToolCallRequest = {}): Promise<ToolResult> {
    return this._request('POST', ['tools', name], { body });
  }

  models(): Promise<ModelsReply> {
    return this._request('GET', ['models']);
  }

  /** What is connected, what can be, and where keys are kept; never a key. */
  connections(): Promise<ConnectionsReply> {
    return this._request('GET', ['connections']);
  }

  /** The model servers of this computer; unless `again`, only while no model is ready. */
  lookForServers(again: boolean): Promise<LookReply> {
    return this._request('POST', ['connections', 'look'], { body: { again } });
  }

  /** Try a key, an address or a model; nothing is saved. */
  testConnection(body: ConnectionTestRequest): Promise<ConnectionTestReply> {
    return this._request('POST', ['connections', 'test'], { body });
  }

  /** Save a connection, and make its model the default. */
  connectModel(body: ConnectRequest): Promise<ConnectionsReply> {
    return this._request('POST', ['connections'], { body });
  }

  /** Remove a connection and its key. */
  forgetConnection(id: string): Promise<ConnectionsReply> {
    return this._request('DELETE', ['connections', id]);
  }

  /** What can be carried out without a model. */
  listWorkflows(): Promise<WorkflowsReply> {
    return this._request('GET', ['workflows']);
  }

  /** The services, each a slash command, with their actions. */
  listServices(): Promise<ServicesReply> {
    return this._request('GET', ['services']);
  }

  /** What an action would be run with; nothing is executed. */
  dryRun(
    service: string,
    action: string,
    body: DryRunRequest
  ): Promise<ActionProposal> {
    return this._request(
      'POST',
      ['services', service, 'actions', action, 'dry-run'],
      { body }
    );
  }

  /** What a message asks for, as far as no model is needed to know. */
  intent(body: IntentRequest): Promise<IntentReply> {
    return this._request('POST', ['intent'], { body });
  }

  /** What could be done, without a model, about a cell that failed; the likeliest first. */
  fixes(query: {
    path: string;
    cellId: string;
    clientId?: string;
  }): Promise<FixesReply> {
    return this._request('GET', ['fixes'], { query });
  }

  /** What to try next at a failed cell, after the attempts that did not help. */
  nextFix(body: FixAttemptRequest): Promise<FixAttempt> {
    return this._request('POST', ['fixes'], { body });
  }

  /** What changed code would do beyond the kernel that it did not do before. */
  acts(body: ActsRequest): Promise<ActsReply> {
    return this._request('POST', ['acts'], { body });
  }

  /** The quality report of a notebook, as it is in the page `clientId` or in its file. */
  quality(query: { path: string; clientId?: string }): Promise<QualityReport> {
    return this._request('GET', ['quality'], { query });
  }

  /** The `AGENTS.md` of the server root, and whether it is sent. */
  instructions(): Promise<InstructionsReply> {
    return this._request('GET', ['instructions']);
  }

  /** Allow the `AGENTS.md` of the server root as it was shown, or not. */
  decideOnInstructions(body: FolderFileDecision): Promise<InstructionsReply> {
    return this._request('PUT', ['instructions'], { body });
  }

  /** The tutorials with the user's progress. */
  listTutorials(): Promise<TutorialsReply> {
    return this._request('GET', ['tutorials']);
  }

  /** Make a tutorial's notebook and data where they are missing, and open the notebook. */
  startTutorial(
    id: string,
    body: TutorialStart = {}
  ): Promise<TutorialStarted> {
    return this._request('POST', ['tutorials', id], { body });
  }

  /** Run the learner's cell of a lesson, counted from 1, and say what is right and missing. */
  checkLesson(
    id: string,
    lesson: number,
    body: LessonCheck = {}
  ): Promise<LessonChecked> {
    return this._request(
      'POST',
      ['tutorials', id, 'lessons', String(lesson), 'check'],
      { body }
    );
  }

  /** What was used in the last days: tokens, cost, time, tool errors. */
  usage(query: { by: UsageBy; days?: number }): Promise<UsageReply> {
    return this._request('GET', ['usage'], { query });
  }

  /** The effective settings; with a session, as they hold there. */
  config(query: { sessionId?: string } = {}): Promise<ConfigReply> {
    return this._request('GET', ['config'], { query });
  }

  /** Change the user's settings; null takes a value of theirs back. */
  configure(values: Record<string, unknown>): Promise<ConfigReply> {
    return this._request('PATCH', ['config'], { body: { values } });
  }

  /** The source of a cell that could come next; empty for none. Aborted, the model is stopped. */
  nextCell(body: NextCellRequest, signal: AbortSignal): Promise<NextCellReply> {
    return this._request('POST', ['next-cell'], { body, signal });
  }

  /** The data sets that there are, and how large an upload may be. */
  listDatasets(query: { sessionId?: string } = {}): Promise<DatasetsReply> {
    return this._request('GET', ['datasets'], { query });
  }

  deleteDataset(name: string): Promise<void> {
    return this._request('DELETE', ['datasets', name]);
  }

  /** Make a data set of a file of the user's computer. */
  upload(options: IUploadOptions): Promise<Dataset> {
    const url = uploadUrl(this.settings, BASE_PATH);
    return upload(this.settings, url, options);
  }

  private _request<T>(
    method: string,
    segments: string[],
    options?: IRequestOptions
  ): Promise<T> {
    return this._transport.send<T>(method, segments, options);
  }

  private readonly _transport: Transport;
}

/** The name in a response's `Content-Disposition`. */
function fileName(response: Response): string | null {
  const header = response.headers.get('Content-Disposition') ?? '';
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1];
  return encoded ? decodeURIComponent(encoded) : null;
}
