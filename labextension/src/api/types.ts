/**
 * What crosses the wire between the page and the server: the TypeScript side of
 * `jupyter_datalayer_agent/protocol`.
 *
 * Times are in ms; `at`, `createdAt` and the like in ms since 1970. A field that the server has
 * no value for is left out.
 */

// The model that everything on the wire derives from, and the ids and times it uses.

export type Mode = 'ask' | 'edit' | 'agent';

export type NotebookMode = 'off' | 'read-only' | 'full';

export type Location = 'panel' | 'inline' | 'magic' | 'api';

export type ApprovalPolicy = 'never' | 'destructive' | 'always';

export type TurnStatus = 'running' | 'completed' | 'failed' | 'aborted';

// The error families and how each crosses a boundary.

export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'turn_in_progress'
  | 'too_large'
  | 'token_limit'
  | 'model_error'
  | 'no_model'
  | 'internal';

/**
 * What went wrong: a stable code, a sentence for a person, and what else is known.
 */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  detail?: unknown;
}

/**
 * The body of every HTTP answer that is not a success.
 */
export interface ErrorReply {
  error: ErrorBody;
}

// What a tool returns, and how tools are listed.

export type ToolErrorCode =
  | 'not_found'
  | 'stale'
  | 'invalid_arguments'
  | 'not_allowed'
  | 'denied'
  | 'kernel_error'
  | 'timeout'
  | 'aborted'
  | 'too_large'
  | 'internal';

export type ToolCallStatus = 'ok' | 'error' | 'denied' | 'aborted';

export type ChangeOp =
  'insert' | 'update' | 'delete' | 'move' | 'create' | 'write';

/**
 * One change to a document, read back after it was made.
 *
 * `before` and `after` are sources (left out where the cell did not, or does not, exist);
 * `index` is the cell's place afterwards (before, for a removal), counted from 0. `cellId`
 * is left out for a change to a whole file.
 */
export interface Change {
  path: string;
  op: ChangeOp;
  cellId?: string;
  index?: number;
  before?: string;
  after?: string;
  cellType?: CellType;
}

/**
 * Why a tool did not do what was asked, for the model: `hint` says what would be right.
 */
export interface ToolError {
  code: ToolErrorCode;
  message: string;
  hint?: string;
}

/**
 * What a tool did. `ok` is true only after the result was read back.
 *
 * `output` is JSON: what the model reads, whole (the copy sent to the model may be cut).
 */
export interface ToolResult {
  ok: boolean;
  name: string;
  output?: unknown;
  error?: ToolError;
  changes?: Change[];
  durationMs: number;
}

/**
 * Body of `POST tools/{name}`: an explicit `path` counts as attached and active.
 */
export interface ToolCallRequest {
  arguments?: { [key: string]: unknown };
  path?: string;
  sessionId?: string;
  mode?: Mode;
  clientId?: string;
}

/**
 * One tool as `GET tools` shows it; `reason` says why it is not enabled.
 */
export interface ToolListing {
  name: string;
  description: string;
  parameters: { [key: string]: unknown };
  group: string;
  changes: boolean;
  destructive: boolean;
  parallel: boolean;
  aliases: string[];
  enabled: boolean;
  reason?: string;
}

/**
 * Answer of `GET tools`.
 */
export interface ToolsReply {
  mode: Mode;
  location: Location;
  notebookMode: NotebookMode;
  tools: ToolListing[];
}

// What the model is told about the notebook in front of the person (DESIGN 6).

export type CellType = 'code' | 'markdown' | 'raw';

export type SelectionStatus = 'unselected' | 'selected' | 'active';

export type ExecutionStatus = 'running' | 'pending' | 'idle';

/**
 * One cell. The execution fields are left out for cells that are not code.
 *
 * `selectionStatus` is `active` when the cell's editor has the cursor (edit mode).
 * `lastExecutionDuration` is in ms, `lastRunEndTime` in ms since 1970.
 */
export interface CellContext {
  id: string;
  index: number;
  type: CellType;
  content: string;
  hasOutput: boolean;
  selectionStatus: SelectionStatus;
  executionStatus?: ExecutionStatus;
  executionOrder?: number;
  lastRunSuccess?: boolean;
  lastExecutionDuration?: number;
  lastRunEndTime?: number;
}

/**
 * One line for a cell of a notebook with 20 cells or more.
 */
export interface CellOutline {
  id: string;
  index: number;
  type: CellType;
  heading: string;
  status: string;
}

/**
 * `allCells` when the notebook has fewer than 20 cells, else `outline`.
 */
export interface NotebookContext {
  uri: string;
  kernelId: string | null;
  kernelLanguage: string;
  cellCount: number;
  selectedCells: CellContext[];
  allCells?: CellContext[];
  outline?: CellOutline[];
}

/**
 * The text file that is the active document.
 */
export interface FileContext {
  path: string;
  language?: string;
  content: string;
  truncated: boolean;
}

/**
 * Answer of `GET context`: what a turn would send now, and its size in tokens.
 */
export interface ContextReply {
  notebook?: NotebookContext;
  file?: FileContext;
  text: string;
  tokens: number;
  notebookMode: NotebookMode;
  reason?: string;
}

// Requests and replies of the HTTP routes (DESIGN 3).

/**
 * Something the person attached to a message. `path` is relative to the server root.
 */
export interface Attachment {
  kind: 'notebook' | 'file' | 'cell' | 'dataset';
  path?: string;
  cellId?: string;
  name?: string;
}

/**
 * Settings of one request, over every other layer but an administrator's lock.
 */
export interface Overrides {
  temperature?: number;
  topP?: number;
  maxOutputTokens?: number;
  parallelToolCalls?: boolean;
  toolChoice?: string | { [key: string]: unknown };
  tokenLimit?: number;
  maxToolCalls?: number;
}

/**
 * A person's message. With no `sessionId` a session is made.
 *
 * `activeNotebook` is the notebook whose editor is the active one; when the field is left out
 * it is what the page `clientId` last reported, and an explicit null means none.
 */
export interface ChatRequest {
  message: string;
  sessionId?: string;
  mode?: Mode;
  model?: string;
  attachments?: Attachment[];
  toolReferences?: string[];
  activeNotebook?: string | null;
  clientId?: string;
  location?: Location;
  cellId?: string;
  planFirst?: boolean;
  approval?: ApprovalPolicy;
  overrides?: Overrides;
}

/**
 * Tokens: of a model call, a turn or (`sessionTokens`) the session so far.
 */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  totalTokens: number;
  sessionTokens: number;
}

/**
 * A tool call as the turn kept it: `output` is the whole output, before any cut.
 */
export interface ToolCallRecord {
  callId: string;
  name: string;
  arguments?: unknown;
  status: ToolCallStatus | 'running';
  output?: unknown;
  durationMs?: number;
}

/**
 * The end of a turn.
 */
export interface ChatReply {
  sessionId: string;
  turnId: string;
  status: 'completed' | 'failed' | 'aborted';
  mode: Mode;
  notebookMode: NotebookMode;
  reply: string;
  toolCalls: ToolCallRecord[];
  changes: Change[];
  usage: Usage;
  error?: ErrorBody;
}

/**
 * What a session remembers; left out means: as the layers below say.
 */
export interface SessionSettings {
  mode?: Mode;
  model?: string;
  notebook?: string;
  attachments?: Attachment[];
  approval?: ApprovalPolicy;
  planFirst?: boolean;
  temperature?: number;
  tokenLimit?: number;
  maxToolCalls?: number;
}

/**
 * A conversation. `lastSeq` is the number of its newest event.
 */
export interface Session {
  id: string;
  title: string;
  createdAt: number;
  updatedAt: number;
  settings: SessionSettings;
  turnCount: number;
  lastSeq: number;
  runningTurnId?: string;
  sessionTokens: number;
}

/**
 * Body of `POST sessions`.
 */
export interface SessionCreate {
  title?: string;
  settings?: SessionSettings;
}

/**
 * Body of `PATCH sessions/{id}`: only what is given changes.
 */
export interface SessionPatch {
  title?: string;
  settings?: SessionSettings;
}

/**
 * A page of sessions, newest first; `nextCursor` asks for the following one.
 */
export interface SessionsReply {
  sessions: Session[];
  nextCursor?: string;
}

/**
 * A turn with what it sent, did and cost.
 *
 * `items` are Responses input items as they were sent. `events` (with `?include=events`)
 * are the turn's events with the deltas of one item joined into one, enough to draw it again.
 */
export interface Turn {
  id: string;
  sessionId: string;
  index: number;
  status: TurnStatus;
  mode: Mode;
  notebookMode: NotebookMode;
  location: Location;
  model?: string;
  message: string;
  reply: string;
  startedAt: number;
  endedAt?: number;
  firstSeq: number;
  lastSeq: number;
  items: { [key: string]: unknown }[];
  toolCalls: ToolCallRecord[];
  changes: Change[];
  usage: Usage;
  error?: ErrorBody;
  events?: { [key: string]: unknown }[];
}

/**
 * Turns in order, the newest last; `before` asks for older ones (a turn id), if any.
 */
export interface TurnsReply {
  turns: Turn[];
  before?: string;
}

/**
 * What a turn changed, with a unified diff of each cell.
 */
export interface ChangesReply {
  turnId: string;
  changes: Change[];
  diffs: string[];
}

/**
 * Answer of `POST sessions/{id}/ops`.
 */
export interface OpAccepted {
  opId: string;
}

/**
 * One model that may be chosen; `ready` says whether a call could be made now.
 */
export interface ModelInfo {
  id: string;
  label: string;
  provider: string;
  ready: boolean;
  reason?: string;
  vision: boolean;
  contextWindow?: number;
}

/**
 * A way to connect a model: what to type, and where.
 */
export interface ModelConnection {
  title: string;
  steps: string;
}

/**
 * Answer of `GET models`. `message` says what was looked for when nothing is ready.
 */
export interface ModelsReply {
  models: ModelInfo[];
  default: string | null;
  ready: boolean;
  message?: string;
  connections: ModelConnection[];
}

/**
 * One effective setting and the layer that it comes from.
 */
export interface ConfigValue {
  name: string;
  value?: unknown;
  source: 'default' | 'environment' | 'config' | 'user' | 'session';
  locked: boolean;
}

/**
 * Answer of `GET config`; it never holds a secret.
 */
export interface ConfigReply {
  values: ConfigValue[];
}

/**
 * Body of `PATCH config`: the person's settings in JupyterLab.
 */
export interface ConfigPatch {
  values: { [key: string]: unknown };
}

/**
 * Answer of `GET health`.
 */
export interface Health {
  status: 'ok';
}

// The submission queue: what a client may ask of a session.

/**
 * One step of a plan and how far it is.
 */
export interface PlanStep {
  description: string;
  toolCalls: string[];
  status: 'pending' | 'in_progress' | 'completed' | 'failed';
}

/**
 * A message; it waits its turn while another runs.
 */
export interface UserMessage {
  type: 'user_message';
  request: ChatRequest;
}

/**
 * Take a waiting message back.
 */
export interface Dequeue {
  type: 'dequeue';
  opId: string;
}

/**
 * Interrupt the running turn and take this waiting message next.
 */
export interface SendNow {
  type: 'send_now';
  opId: string;
}

/**
 * Stop the running turn.
 */
export interface Interrupt {
  type: 'interrupt';
}

/**
 * The person's answer to an `approvalRequested`; the model reads `feedback`.
 */
export interface ApprovalDecision {
  type: 'approval_decision';
  approvalId: string;
  decision: 'approve' | 'approve_for_session' | 'deny';
  feedback?: string;
}

/**
 * The person's answer to a plan.
 */
export interface PlanDecision {
  type: 'plan_decision';
  decision: 'approve' | 'edit' | 'reject';
  steps?: PlanStep[];
}

/**
 * The person's answer to a `userInputRequested`.
 */
export interface UserInputAnswer {
  type: 'user_input_answer';
  requestId: string;
  answer: string;
}

/**
 * Go on with a workflow that stopped.
 */
export interface Resume {
  type: 'resume';
}

/**
 * Change what the session remembers.
 */
export interface ConfigUpdate {
  type: 'config_update';
  settings: SessionSettings;
}

/**
 * A data set was uploaded for this session.
 */
export interface UploadRegistered {
  type: 'upload_registered';
  dataset: { [key: string]: unknown };
}

/**
 * Summarise the older turns now.
 */
export interface Compact {
  type: 'compact';
}

/**
 * Take back what a turn changed, or only some cells of it.
 */
export interface Undo {
  type: 'undo';
  turnId: string;
  cellIds?: string[];
}

/**
 * Settle what a turn changed, or only some cells of it.
 */
export interface Keep {
  type: 'keep';
  turnId: string;
  cellIds?: string[];
}

/**
 * Forget the conversation's messages and token count.
 */
export interface Reset {
  type: 'reset';
}

/**
 * End the running turn and unload the session from memory.
 */
export interface Shutdown {
  type: 'shutdown';
}

export type Op =
  | UserMessage
  | Dequeue
  | SendNow
  | Interrupt
  | ApprovalDecision
  | PlanDecision
  | UserInputAnswer
  | Resume
  | ConfigUpdate
  | UploadRegistered
  | Compact
  | Undo
  | Keep
  | Reset
  | Shutdown;

// The event queue: what a session tells everybody who listens.

/**
 * `seq` increases within a session and is the SSE id; `at` is ms since 1970.
 */
export interface BaseEvent {
  seq: number;
  turnId?: string;
  at: number;
}

/**
 * The session's settings or title changed.
 */
export interface SessionConfigured extends BaseEvent {
  type: 'session_configured';
  settings: SessionSettings;
  title?: string;
}

/**
 * A message waits while another turn runs; `message` is what the person wrote.
 */
export interface OpQueued extends BaseEvent {
  type: 'op_queued';
  opId: string;
  message?: string;
}

/**
 * A waiting message was taken: by its turn, or back by the person.
 */
export interface OpDequeued extends BaseEvent {
  type: 'op_dequeued';
  opId: string;
  reason: 'started' | 'removed';
}

/**
 * A turn began; `tools` are the names that the model is sent.
 */
export interface TurnStarted extends BaseEvent {
  type: 'turn_started';
  mode: Mode;
  notebookMode: NotebookMode;
  tools: string[];
  message: string;
  model?: string;
  target?: string;
  opId?: string;
}

/**
 * What is being done now, in words for a person.
 */
export interface StatusEvent extends BaseEvent {
  type: 'status';
  message: string;
}

/**
 * A model call began; `attempt` counts from 1.
 */
export interface ModelStarted extends BaseEvent {
  type: 'model_started';
  model: string;
  attempt: number;
}

/**
 * More text of an answer.
 */
export interface TextDelta extends BaseEvent {
  type: 'text_delta';
  itemId: string;
  delta: string;
}

/**
 * More of the model's reasoning summary.
 */
export interface ReasoningDelta extends BaseEvent {
  type: 'reasoning_delta';
  itemId: string;
  delta: string;
}

/**
 * A retried stream takes back what it had shown of this item.
 */
export interface ItemDiscarded extends BaseEvent {
  type: 'item_discarded';
  itemId: string;
}

/**
 * The plan as it stands.
 */
export interface PlanUpdated extends BaseEvent {
  type: 'plan_updated';
  steps: PlanStep[];
  explanation?: string;
}

/**
 * A step of a planned workflow began; `index` counts from 0.
 */
export interface StepStarted extends BaseEvent {
  type: 'step_started';
  index: number;
  total: number;
  description: string;
}

/**
 * A step of a planned workflow ended.
 */
export interface StepFinished extends BaseEvent {
  type: 'step_finished';
  index: number;
  success: boolean;
  message: string;
}

/**
 * A failed step is being repaired.
 */
export interface RecoveryStarted extends BaseEvent {
  type: 'recovery_started';
  index: number;
  error: string;
  attempt: number;
}

/**
 * The repair of a failed step ended.
 */
export interface RecoveryFinished extends BaseEvent {
  type: 'recovery_finished';
  index: number;
  success: boolean;
  message: string;
}

/**
 * The model began to write a call.
 */
export interface ToolCallStarted extends BaseEvent {
  type: 'tool_call_started';
  callId: string;
  name: string;
}

/**
 * The call's arguments, complete; a string where they were not valid JSON.
 */
export interface ToolCallArguments extends BaseEvent {
  type: 'tool_call_arguments';
  callId: string;
  arguments: unknown;
}

/**
 * What the call returned: `output` as the model was sent it; `summary` for a person.
 */
export interface ToolCallOutput extends BaseEvent {
  type: 'tool_call_output';
  callId: string;
  name: string;
  status: ToolCallStatus;
  output?: unknown;
  truncated: boolean;
  durationMs: number;
  summary?: string;
}

/**
 * An act waits for the person. `changes` is what it would change, where that is known.
 */
export interface ApprovalRequested extends BaseEvent {
  type: 'approval_requested';
  approvalId: string;
  callId: string;
  name: string;
  arguments: unknown;
  reason: string;
  destructive: boolean;
  changes?: Change[];
}

/**
 * The wait is over; `expired` when nobody could answer in time.
 */
export interface ApprovalResolved extends BaseEvent {
  type: 'approval_resolved';
  approvalId: string;
  decision: 'approve' | 'approve_for_session' | 'deny' | 'expired' | 'aborted';
}

/**
 * A question for the person.
 */
export interface UserInputRequested extends BaseEvent {
  type: 'user_input_requested';
  requestId: string;
  question: string;
  options?: string[];
}

/**
 * A document was changed by this turn, as read back.
 */
export interface DocumentChanged extends BaseEvent {
  type: 'document_changed';
  path: string;
  changes: Change[];
}

/**
 * A data set became known to the session.
 */
export interface DatasetRegistered extends BaseEvent {
  type: 'dataset_registered';
  dataset: { [key: string]: unknown };
}

/**
 * The turn's tokens so far.
 */
export interface TokenUsage extends BaseEvent {
  type: 'token_usage';
  usage: Usage;
}

/**
 * Older turns are no longer sent whole; counts of turns before and after.
 */
export interface ContextCompacted extends BaseEvent {
  type: 'context_compacted';
  before: number;
  after: number;
}

/**
 * Something the person should know that does not end the turn.
 */
export interface WarningEvent extends BaseEvent {
  type: 'warning';
  code: string;
  message: string;
}

/**
 * The turn's whole answer.
 */
export interface FinalReply extends BaseEvent {
  type: 'final_reply';
  text: string;
}

/**
 * A failure that the person must be told of.
 */
export interface ErrorEvent extends BaseEvent {
  type: 'error';
  code: ErrorCode;
  message: string;
  retryable: boolean;
}

/**
 * The turn ended. Times in ms; the time to the first token from the turn's start.
 */
export interface TurnCompleted extends BaseEvent {
  type: 'turn_completed';
  durationMs: number;
  timeToFirstTokenMs?: number;
  usage: Usage;
}

/**
 * The turn ended before its time.
 */
export interface TurnAborted extends BaseEvent {
  type: 'turn_aborted';
  reason:
    | 'interrupted'
    | 'replaced'
    | 'token_limit'
    | 'tool_limit'
    | 'shutdown'
    | 'error';
}

export type Event =
  | SessionConfigured
  | OpQueued
  | OpDequeued
  | TurnStarted
  | StatusEvent
  | ModelStarted
  | TextDelta
  | ReasoningDelta
  | ItemDiscarded
  | PlanUpdated
  | StepStarted
  | StepFinished
  | RecoveryStarted
  | RecoveryFinished
  | ToolCallStarted
  | ToolCallArguments
  | ToolCallOutput
  | ApprovalRequested
  | ApprovalResolved
  | UserInputRequested
  | DocumentChanged
  | DatasetRegistered
  | TokenUsage
  | ContextCompacted
  | WarningEvent
  | FinalReply
  | ErrorEvent
  | TurnCompleted
  | TurnAborted;

// What travels over ``WS page``, the one connection of an open page (DESIGN 6).

/**
 * The document whose editor is the active one in JupyterLab's main area.
 */
export interface ActiveDocument {
  path: string;
  kind: 'notebook' | 'file' | 'lexical';
}

/**
 * A notebook that is open in the page, with what its editor shows now.
 *
 * `activeCellId` has the cursor or the focus; `editing` is edit mode.
 */
export interface OpenNotebook {
  path: string;
  ready?: boolean;
  kernelId?: string;
  kernelName?: string;
  kernelLanguage?: string;
  kernelStatus?: string;
  cellCount?: number;
  activeCellId?: string;
  editing?: boolean;
  selectedCellIds?: string[];
  runningCellIds?: string[];
  pendingCellIds?: string[];
}

/**
 * First message of a connection. `clientId` lives as long as the browser tab.
 *
 * `pendingRequestIds` are the server's requests that the page still works on and will answer
 * on this connection: none after a reload. Left out, the page does not say.
 */
export interface Hello {
  type: 'hello';
  clientId: string;
  pendingRequestIds?: string[];
}

/**
 * The whole editor state; sent on each change, at most every 50 ms.
 */
export interface EditorState {
  type: 'editor_state';
  activeDocument?: ActiveDocument;
  notebooks?: OpenNotebook[];
}

/**
 * Send the session's events with `seq` over `after`, then live ones.
 */
export interface Subscribe {
  type: 'subscribe';
  sessionId: string;
  after?: number;
}

/**
 * No more events of this session.
 */
export interface Unsubscribe {
  type: 'unsubscribe';
  sessionId: string;
}

/**
 * An op for a session; answered by `op_accepted` or `op_rejected` with this `ref`.
 */
export interface SubmitOp {
  type: 'submit_op';
  ref: string;
  sessionId: string;
  op: Op;
}

/**
 * The person turned to the input: the model library may be loaded now.
 */
export interface InputFocused {
  type: 'input_focused';
}

/**
 * The answer to a `PageRequest`: `result` where `ok`, else `error`.
 */
export interface PageResponse {
  type: 'response';
  requestId: string;
  ok: boolean;
  result?: unknown;
  error?: PageFailure;
}

/**
 * A cell of a run began or ended in the page.
 */
export interface PageProgress {
  type: 'progress';
  requestId: string;
  cellId: string;
  state: 'started' | 'finished';
}

/**
 * Why the page could not do it. `cells` are the cells as they are now, for `stale`.
 */
export interface PageFailure {
  code:
    | 'not_open'
    | 'not_found'
    | 'stale'
    | 'kernel_error'
    | 'invalid'
    | 'internal';
  message: string;
  cells?: PageCell[];
}

/**
 * A cell as the page has it. `outputs` (nbformat) only where they were asked for.
 *
 * `hash` is the SHA-256 of the source in UTF-8, hexadecimal.
 */
export interface PageCell {
  id: string;
  index: number;
  type: CellType;
  source: string;
  hash: string;
  hasOutput?: boolean;
  outputs?: { [key: string]: unknown }[];
  selectionStatus?: SelectionStatus;
  executionStatus?: ExecutionStatus;
  executionCount?: number;
  lastRunSuccess?: boolean;
  lastExecutionDuration?: number;
  lastRunEndTime?: number;
}

/**
 * Result of `notebook.read`, and part of that of `notebook.edit`.
 */
export interface PageNotebook {
  path: string;
  kernelId?: string;
  kernelName?: string;
  kernelLanguage?: string;
  kernelStatus?: string;
  cells: PageCell[];
}

/**
 * `notebook.read`: all cells, or only `cellIds`; outputs only if wanted.
 */
export interface ReadParams {
  path: string;
  cellIds?: string[];
  outputs?: boolean;
}

/**
 * Exactly one of: a fixed end, after a cell, before a cell.
 */
export interface CellPosition {
  at?: 'start' | 'end';
  after?: string;
  before?: string;
}

/**
 * A new cell, with the id that it is to have.
 */
export interface InsertCell {
  op: 'insert';
  cellId: string;
  type: CellType;
  source: string;
  position: CellPosition;
}

/**
 * New source or type in place. Refused when the cell's hash is not `baseHash`.
 */
export interface UpdateCell {
  op: 'update';
  cellId: string;
  baseHash: string;
  source?: string;
  type?: CellType;
}

/**
 * Removal. Refused when the cell's hash is not `baseHash`.
 */
export interface DeleteCell {
  op: 'delete';
  cellId: string;
  baseHash: string;
}

/**
 * Another place for a cell.
 */
export interface MoveCell {
  op: 'move';
  cellId: string;
  position: CellPosition;
}

/**
 * Outputs (nbformat) of a code cell that the server itself ran, headless, before the page
 * opened the notebook. It is no step of the undo, since nobody undoes a run.
 */
export interface SetOutputs {
  op: 'outputs';
  cellId: string;
  outputs: { [key: string]: unknown }[];
  executionCount?: number;
}

export type CellEdit =
  InsertCell | UpdateCell | DeleteCell | MoveCell | SetOutputs;

/**
 * `notebook.edit`: applied whole or not at all, as one step of the notebook's undo, saved.
 *
 * The result is a `PageNotebook` with the cells of the edits as read back.
 */
export interface EditParams {
  path: string;
  edits: CellEdit[];
}

/**
 * `notebook.run`: these cells in this order, through the page's own kernel session.
 *
 * `timeoutMs` is for each cell, from `execute_input`; afterwards the kernel is interrupted.
 * The result is a list of `CellRun`.
 */
export interface RunParams {
  path: string;
  cellIds: string[];
  stopOnError?: boolean;
  timeoutMs: number;
}

/**
 * The exception that a cell ended with.
 */
export interface CellRunError {
  ename: string;
  evalue: string;
  traceback?: string[];
}

/**
 * How one cell of a run ended. `note` says why it was skipped, or what else to know.
 */
export interface CellRun {
  cellId: string;
  index?: number;
  status: 'ok' | 'error' | 'timeout' | 'aborted' | 'skipped';
  executionCount?: number;
  durationMs?: number;
  outputs?: { [key: string]: unknown }[];
  error?: CellRunError;
  note?: string;
}

/**
 * Result of `notebook.run`.
 */
export interface RunResult {
  runs: CellRun[];
}

/**
 * `notebook.interrupt`: stop the run `requestId`, if it is ours that runs there.
 */
export interface InterruptParams {
  path: string;
  requestId: string;
}

/**
 * `document.open`: show the document in the main area without taking the focus.
 */
export interface OpenParams {
  path: string;
}

/**
 * `notebook.selectKernel`: connect the notebook to a running kernel, or start one.
 */
export interface KernelParams {
  path: string;
  kernelId?: string;
  kernelName?: string;
}

/**
 * `notebook.reveal`: scroll a cell into view.
 */
export interface RevealParams {
  path: string;
  cellId: string;
}

/**
 * `document.read`: the text of an open file, with what is not saved yet.
 */
export interface DocumentReadParams {
  path: string;
}

/**
 * Result of `document.read`. `language` is the editor's name for it, where known.
 */
export interface DocumentText {
  path: string;
  content: string;
  language?: string;
}

export type PageMethod =
  | 'notebook.read'
  | 'notebook.edit'
  | 'notebook.run'
  | 'notebook.interrupt'
  | 'notebook.selectKernel'
  | 'notebook.reveal'
  | 'document.open'
  | 'document.read';

/**
 * The server asks the page; `params` is the `…Params` of the method.
 */
export interface PageRequest {
  type: 'request';
  requestId: string;
  method: PageMethod;
  params: { [key: string]: unknown };
}

/**
 * Answer to `hello`.
 */
export interface Welcome {
  type: 'welcome';
  clientId: string;
  version: string;
}

/**
 * An event of a session that the page subscribed to.
 */
export interface SessionEvent {
  type: 'event';
  sessionId: string;
  event: Event;
}

/**
 * The op was put on the session's queue.
 */
export interface OpAcceptedMessage {
  type: 'op_accepted';
  ref: string;
  opId: string;
}

/**
 * The op, or another message of the page, was refused.
 */
export interface OpRejectedMessage {
  type: 'op_rejected';
  ref?: string;
  error: ErrorBody;
}

export type ClientMessage =
  | Hello
  | EditorState
  | Subscribe
  | Unsubscribe
  | SubmitOp
  | InputFocused
  | PageResponse
  | PageProgress;

export type ServerMessage =
  Welcome | SessionEvent | OpAcceptedMessage | OpRejectedMessage | PageRequest;
