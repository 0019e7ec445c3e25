import { components } from './generated';

/**
 * What crosses the wire between the page and the server, by the names that the rest of the page
 * uses. `generated.ts` is made from the server's own models; nothing is described twice.
 */
type Schemas = components['schemas'];

/**
 * The type as it is on the wire: an optional field without a value is left out and never null. In
 * two alone null has a meaning: in `ChatRequest.activeNotebook`, that no notebook is active; in
 * `SessionSettings.reasoningEffort`, that an earlier choice is taken back.
 */
type Present<T> = T extends object
  ? {
      [K in keyof T]: K extends 'activeNotebook' | 'reasoningEffort'
        ? T[K]
        : undefined extends T[K]
          ? Present<Exclude<T[K], null>>
          : Present<T[K]>;
    }
  : T;

type Wire<Name extends keyof Schemas> = Present<Schemas[Name]>;

// Errors

export type ErrorBody = Wire<'ErrorBody'>;
export type ErrorReply = Wire<'ErrorReply'>;

// Tools

export type Change = Wire<'Change'>;
export type ToolError = Wire<'ToolError'>;
export type ToolLabel = Wire<'ToolLabel'>;
export type ToolResult = Wire<'ToolResult'>;
export type ToolCallRequest = Wire<'ToolCallRequest'>;
export type ToolListing = Wire<'ToolListing'>;
export type ToolsReply = Wire<'ToolsReply'>;
export type ActsReply = Wire<'ActsReply'>;
export type ActsRequest = Wire<'ActsRequest'>;
export type CodeChange = Wire<'CodeChange'>;

// Context

export type CellContext = Wire<'CellContext'>;
export type CellOutline = Wire<'CellOutline'>;
export type NotebookContext = Wire<'NotebookContext'>;
export type FileContext = Wire<'FileContext'>;
export type ContextReply = Wire<'ContextReply'>;
export type ContextPart = Wire<'ContextPart'>;
export type VariablesReply = Wire<'VariablesReply'>;
export type ShareRequest = Wire<'ShareRequest'>;
export type SharingNow = Wire<'SharingNow'>;
export type SharePolicy = SharingNow['outputs'];

// Requests and replies

export type Attachment = Wire<'Attachment'>;
export type Overrides = Wire<'Overrides'>;
export type ChatRequest = Wire<'ChatRequest'>;
export type ProposalDecision = Wire<'ProposalDecision'>;
export type Usage = Wire<'Usage'>;
export type ToolCallRecord = Wire<'ToolCallRecord'>;
export type ChatReply = Wire<'ChatReply'>;
export type ReasoningEffort = NonNullable<
  Schemas['SessionSettings']['reasoningEffort']
>;
export type SessionSettings = Wire<'SessionSettings'>;
export type Session = Wire<'Session'>;
export type SessionCreate = Wire<'SessionCreate'>;
export type SessionPatch = Wire<'SessionPatch'>;
export type SessionsReply = Wire<'SessionsReply'>;
export type Turn = Wire<'Turn'>;
export type TurnsReply = Wire<'TurnsReply'>;
export type ForkRequest = Wire<'ForkRequest'>;
export type ChangedPath = Wire<'ChangedPath'>;
export type PromptStep = Wire<'PromptStep'>;
export type PromptsReply = Wire<'PromptsReply'>;
export type CellBefore = Wire<'CellBefore'>;
export type ChangedBlock = Wire<'ChangedBlock'>;
export type ChangesReply = Wire<'ChangesReply'>;
export type ModelInfo = Wire<'ModelInfo'>;
export type ModelsReply = Wire<'ModelsReply'>;
export type ConnectionInfo = Wire<'ConnectionInfo'>;
export type ConnectionsReply = Wire<'ConnectionsReply'>;
export type ConnectableProvider = Wire<'ConnectableProvider'>;
export type ConnectionTestRequest = Wire<'ConnectionTestRequest'>;
export type ConnectionTestReply = Wire<'ConnectionTestReply'>;
export type ConnectRequest = Wire<'ConnectRequest'>;
export type McpServersReply = Wire<'McpServersReply'>;
export type McpServerInfo = Wire<'McpServerInfo'>;
export type McpServerDefinition = Wire<'McpServerDefinition'>;
export type McpServerPatch = Wire<'McpServerPatch'>;
export type McpFolderFile = Wire<'McpFolderFile'>;
export type FolderFileDecision = Wire<'FolderFileDecision'>;
export type FolderInstructions = Wire<'FolderInstructions'>;
export type InstructionsReply = Wire<'InstructionsReply'>;
export type McpLogReply = Wire<'McpLogReply'>;
export type McpSignInReply = Wire<'McpSignInReply'>;
export type McpSignInRequest = Wire<'McpSignInRequest'>;
export type McpTestReply = Wire<'McpTestReply'>;
export type McpTestRequest = Wire<'McpTestRequest'>;
export type McpTool = Wire<'McpTool'>;
export type McpTrust = McpTool['trust'];
export type FoundModel = Wire<'FoundModel'>;
export type FoundServer = Wire<'FoundServer'>;
export type LookReply = Wire<'LookReply'>;
export type UsageRow = Wire<'UsageRow'>;
export type UsageReply = Wire<'UsageReply'>;
export type UsageBy = UsageReply['by'];
export type ConfigValue = Wire<'ConfigValue'>;
export type ConfigReply = Wire<'ConfigReply'>;
export type Health = Wire<'Health'>;

// Without a model

export type WorkflowCall = Wire<'WorkflowCall-Input'>;
export type WorkflowInfo = Wire<'WorkflowInfo'>;
export type WorkflowOffer = Wire<'WorkflowOffer'>;
export type WorkflowsReply = Wire<'WorkflowsReply'>;
export type FixInfo = Wire<'FixInfo'>;
export type FixesReply = Wire<'FixesReply'>;
export type CellFix = Wire<'CellFix'>;
export type FixChange = Wire<'FixChange'>;
export type TriedFix = Wire<'TriedFix'>;
export type FixAttempt = Wire<'FixAttempt'>;
export type FixAttemptRequest = Wire<'FixAttemptRequest'>;
export type NextCellRequest = Wire<'NextCellRequest'>;
export type NextCellReply = Wire<'NextCellReply'>;
export type QualityIssue = Wire<'QualityIssue'>;
export type QualityReport = Wire<'QualityReport'>;
export type Lesson = Wire<'Lesson'>;
export type Tutorial = Wire<'Tutorial'>;
export type TutorialsReply = Wire<'TutorialsReply'>;
export type TutorialStart = Wire<'TutorialStart'>;
export type TutorialStarted = Wire<'TutorialStarted'>;
export type LessonCheck = Wire<'LessonCheck'>;
export type LessonChecked = Wire<'LessonChecked'>;

// Services

export type ServiceInfo = Wire<'ServiceInfo'>;
export type ActionInfo = Wire<'ActionInfo'>;
export type ServicesReply = Wire<'ServicesReply'>;
export type ActionOffer = Wire<'ActionOffer'>;
export type ServiceHelp = Wire<'ServiceHelp'>;
export type Intent = Wire<'Intent'>;
export type IntentChoice = Wire<'IntentChoice'>;
export type IntentRequest = Wire<'IntentRequest'>;
export type IntentReply = Wire<'IntentReply'>;
export type ActionCall = Wire<'ActionCall'>;
export type ActionParameter = Wire<'ActionParameter'>;
export type ActionProposal = Wire<'ActionProposal'>;
export type DryRunRequest = Wire<'DryRunRequest'>;

// Data sets

export type Dataset = Wire<'Dataset'>;
export type DatasetsReply = Wire<'DatasetsReply'>;
export type UploadReply = Wire<'UploadReply'>;
export type UploadProgress = Wire<'UploadProgress'>;

// Ops

export type PlanStep = Wire<'PlanStep-Output'>;
export type NewPlanStep = Wire<'PlanStep-Input'>;
export type UserMessage = Wire<'UserMessage'>;
export type Dequeue = Wire<'Dequeue'>;
export type SendNow = Wire<'SendNow'>;
export type Interrupt = Wire<'Interrupt'>;
export type ApprovalDecision = Wire<'ApprovalDecision'>;
export type PlanDecision = Wire<'PlanDecision'>;
export type Pause = Wire<'Pause'>;
export type UserInputAnswer = Wire<'UserInputAnswer'>;
export type FormAnswer = Wire<'FormAnswer'>;
export type Resume = Wire<'Resume'>;
export type ConfigUpdate = Wire<'ConfigUpdate'>;
export type UploadRegistered = Wire<'UploadRegistered'>;
export type Compact = Wire<'Compact'>;
export type Undo = Wire<'Undo'>;
export type Keep = Wire<'Keep'>;
export type GoBack = Wire<'GoBack'>;
export type Reset = Wire<'Reset'>;
export type Shutdown = Wire<'Shutdown'>;
export type Op = Wire<'Op'>;

// Events

export type SessionConfigured = Wire<'SessionConfigured'>;
export type OpQueued = Wire<'OpQueued'>;
export type OpHeld = Wire<'OpHeld'>;
export type OpDequeued = Wire<'OpDequeued'>;
export type TurnStarted = Wire<'TurnStarted'>;
export type ModelStarted = Wire<'ModelStarted'>;
export type TextDelta = Wire<'TextDelta'>;
export type ReasoningDelta = Wire<'ReasoningDelta'>;
export type ItemDiscarded = Wire<'ItemDiscarded'>;
export type PlanUpdated = Wire<'PlanUpdated'>;
export type StepStarted = Wire<'StepStarted'>;
export type StepFinished = Wire<'StepFinished'>;
export type RecoveryStarted = Wire<'RecoveryStarted'>;
export type RecoveryFinished = Wire<'RecoveryFinished'>;
export type ToolCallStarted = Wire<'ToolCallStarted'>;
export type ToolCallArguments = Wire<'ToolCallArguments'>;
export type ToolCallOutput = Wire<'ToolCallOutput'>;
export type ApprovalRequested = Wire<'ApprovalRequested'>;
export type ApprovalResolved = Wire<'ApprovalResolved'>;
export type UserInputRequested = Wire<'UserInputRequested'>;
export type UserInputResolved = Wire<'UserInputResolved'>;
export type InputForm = Wire<'InputForm'>;
export type DocumentChanged = Wire<'DocumentChanged'>;
export type UndoConflict = Wire<'UndoConflict'>;
export type ChangesUndone = Wire<'ChangesUndone'>;
export type ChangesKept = Wire<'ChangesKept'>;
export type WentBack = Wire<'WentBack'>;
export type AnswerStarted = Wire<'AnswerStarted'>;
export type AnswerFinished = Wire<'AnswerFinished'>;
export type SessionReset = Wire<'SessionReset'>;
export type CellsStale = Wire<'CellsStale'>;
export type FixesOffered = Wire<'FixesOffered'>;
export type DatasetRegistered = Wire<'DatasetRegistered'>;
export type TokenUsage = Wire<'TokenUsage'>;
export type ActionProposed = Wire<'ActionProposed'>;
export type IntentDetected = Wire<'IntentDetected'>;
export type ContextCompacted = Wire<'ContextCompacted'>;
export type FinalReply = Wire<'FinalReply'>;
export type ErrorEvent = Wire<'ErrorEvent'>;
export type TurnCompleted = Wire<'TurnCompleted'>;
export type TurnAborted = Wire<'TurnAborted'>;
export type Event = Wire<'Event'>;

// What travels over `WS page`

export type ActiveDocument = Wire<'ActiveDocument'>;
export type OpenNotebook = Wire<'OpenNotebook'>;
export type Hello = Wire<'Hello'>;
export type EditorState = Wire<'EditorState'>;
export type Subscribe = Wire<'Subscribe'>;
export type Unsubscribe = Wire<'Unsubscribe'>;
export type SubmitOp = Wire<'SubmitOp'>;
export type InputFocused = Wire<'InputFocused'>;
export type PanelShown = Wire<'PanelShown'>;
export type PageResponse = Wire<'PageResponse'>;
export type PageProgress = Wire<'PageProgress'>;
export type PageFailure = Wire<'PageFailure'>;
export type PageCell = Wire<'PageCell'>;
export type PageNotebook = Wire<'PageNotebook'>;
export type ReadParams = Wire<'ReadParams'>;
export type CellPosition = Wire<'CellPosition'>;
export type InsertCell = Wire<'InsertCell'>;
export type UpdateCell = Wire<'UpdateCell'>;
export type DeleteCell = Wire<'DeleteCell'>;
export type MoveCell = Wire<'MoveCell'>;
export type SetOutputs = Wire<'SetOutputs'>;
export type EditParams = Wire<'EditParams'>;
export type CodePart = Wire<'CodePart'>;
export type RunParams = Wire<'RunParams'>;
export type CellRunError = Wire<'CellRunError'>;
export type CellRun = Wire<'CellRun'>;
export type RunResult = Wire<'RunResult'>;
export type AllowParams = Wire<'AllowParams'>;
export type InterruptParams = Wire<'InterruptParams'>;
export type OpenParams = Wire<'OpenParams'>;
export type KernelParams = Wire<'KernelParams'>;
export type RevealParams = Wire<'RevealParams'>;
export type DeleteDocumentParams = Wire<'DeleteDocumentParams'>;
export type ExecuteCommandParams = Wire<'ExecuteCommandParams'>;
export type PageCommand = ExecuteCommandParams['id'];
export type DocumentReadParams = Wire<'DocumentReadParams'>;
export type WriteTextParams = Wire<'WriteTextParams'>;
export type DocumentText = Wire<'DocumentText'>;
export type PageRequest = Wire<'PageRequest'>;
export type Welcome = Wire<'Welcome'>;
export type DocumentTouched = Wire<'DocumentTouched'>;
export type FileWritten = Wire<'FileWritten'>;
export type FileRenamed = Wire<'FileRenamed'>;
export type SessionsWaiting = Wire<'SessionsWaiting'>;
export type WaitingSession = Wire<'WaitingSession'>;
export type SessionEvent = Omit<Wire<'SessionEvent'>, 'event'> & {
  event: Event;
};
export type OpAcceptedMessage = Wire<'OpAcceptedMessage'>;
export type OpRejectedMessage = Wire<'OpRejectedMessage'>;
export type ClientMessage = Wire<'ClientMessage'>;
export type ServerMessage =
  | Exclude<Wire<'ServerMessage'>, { type: 'event' }>
  | SessionEvent;

// Parts that have no name of their own in the schema

export type Mode = ChatReply['mode'];
export type NotebookMode = ChatReply['notebookMode'];
export type Location = Turn['location'];
export type ErrorCode = ErrorBody['code'];
export type ToolCallStatus = ToolCallOutput['status'];
export type PlanState = NonNullable<PlanUpdated['state']>;
export type ChangeOp = Change['op'];
export type CellType = PageCell['type'];
export type ExecutionStatus = NonNullable<PageCell['executionStatus']>;
export type CellEdit = EditParams['edits'][number];
export type ExportFormat = 'md' | 'ipynb' | 'json';
export type PageMethod = PageRequest['method'];

// The past

export type Provenance = Wire<'Provenance-Output'>;
export type CitedAnswer = Wire<'CitedAnswer'>;
export type Mark = Wire<'Mark'>;
export type SearchHit = Wire<'SearchHit'>;
export type SearchReply = Wire<'SearchReply'>;
export type StoredResponse = Wire<'StoredResponse'>;
export type TurnPlace = Wire<'TurnPlace'>;
export type Citation = Wire<'Citation'>;
export type ScratchpadCell = Wire<'ScratchpadCell'>;
export type ScratchpadRequest = Wire<'ScratchpadRequest'>;
export type ScratchpadReply = Wire<'ScratchpadReply'>;
export type StrategistRequest = Wire<'StrategistRequest'>;
export type StrategistState = Wire<'StrategistState'>;
export type StrategistReply = Wire<'StrategistReply'>;
