import {
  CodePart,
  ActionProposal,
  ApprovalRequested,
  Change,
  CitedAnswer,
  ContextCompacted,
  ErrorCode,
  FormAnswer,
  FinalReply,
  InputForm,
  IntentDetected,
  Mode,
  NotebookMode,
  Provenance,
  ServiceHelp,
  ActionOffer,
  ShareRequest,
  ToolCallStatus,
  ToolLabel,
  TurnAborted,
  UndoConflict,
  Usage,
  WorkflowCall,
  WorkflowOffer
} from '../api/types';
import { IFixOffer } from './offers';
import { IPlan } from './plan';

/** Text of the assistant's answer; `text` is Markdown. */
export interface ITextEntry {
  kind: 'text';
  id: string;
  text: string;
  /** A failure cut it off. */
  isBroken?: boolean;
}

/** The model's summary of its reasoning. */
export interface IReasoningEntry {
  kind: 'reasoning';
  id: string;
  text: string;
}

/** A tool call, from its first mention to its result. */
export interface IToolEntry {
  kind: 'tool';
  id: string;
  name: string;
  label?: ToolLabel;
  /** It only reads. */
  reads?: boolean;
  /** Its purpose is to run code. */
  runs?: boolean;
  arguments?: unknown;
  status: ToolCallStatus | 'running';
  startedAt: number;
  durationMs?: number;
  output?: unknown;
  truncated?: boolean;
  summary?: string;
  changes: readonly Change[];
  /** What of the output the model was not sent. */
  withheld?: readonly string[];
  /** The gate refused it: what the message lacked. */
  needs?: 'mode' | 'notebook';
  /** Data by MIME type that the tool returned to be shown. */
  mimeBundle?: Readonly<Record<string, unknown>>;
}

/** An act that waits, or waited, for the user; with `share` it is to send this to the model. */
export interface IApprovalEntry {
  kind: 'approval';
  id: string;
  callId: string;
  name: string;
  label?: ToolLabel;
  /** The tool is another program's: only that knows what its arguments mean. */
  isForeign?: boolean;
  arguments: unknown;
  reason: string;
  destructive: boolean;
  /** It was approved, and what it would do has changed since: the reason says what. */
  again?: boolean;
  changes: readonly Change[];
  /** What code does beyond the kernel: "runs a shell command". */
  kinds?: readonly string[];
  share?: ShareRequest;
  /** What would run, where neither the changes nor the arguments show it. */
  code?: readonly CodePart[];
  /** Its code runs, and waits before it does this. */
  act?: ApprovalRequested['act'];
  decision?: 'approve' | 'approve_for_session' | 'deny' | 'expired' | 'aborted';
}

/** A question to the user; `open` until the turn goes on, then with the answer. */
export interface IQuestionEntry {
  kind: 'question';
  id: string;
  question: string;
  options: readonly string[];
  open: boolean;
  answer?: string;
  /** An MCP server asks it, by a form. */
  form?: InputForm;
  /** What became of the form. */
  action?: FormAnswer['action'];
}

/** A warning or an error that the user must see. */
export interface INoticeEntry {
  kind: 'notice';
  id: string;
  level: 'warning' | 'error';
  code: ErrorCode | string;
  message: string;
  retryable: boolean;
}

/** The user reverted changes of the turn; `left` cells were changed since and are as they were. */
export interface IUndoneEntry {
  kind: 'undone';
  id: string;
  changes: readonly Change[];
  left: number;
  /** What cannot be reverted. */
  note?: string;
}

/** Older turns are not sent whole any more: summarised, or left out. */
export interface ICompactedEntry {
  kind: 'compacted';
  id: string;
  how: ContextCompacted['how'];
  summary?: string;
  /** Whole turns, and estimated tokens, that were sent before and are sent now. */
  turns: { before: number; after: number };
  tokens: { before: number; after: number };
}

/** What the agent can do, by service. */
export interface IHelpEntry {
  kind: 'help';
  id: string;
  services: readonly ServiceHelp[];
}

/** What a message may ask for, to choose from. */
export interface IActionsOfferedEntry {
  kind: 'actions-offered';
  id: string;
  text: string;
  offers: readonly ActionOffer[];
}

/** An action that the user may run; its id is the proposal's. */
export interface IProposalEntry {
  kind: 'proposal';
  id: string;
  proposal: ActionProposal;
}

/** A run of an action; `fraction` from 0 to 1, where it is known; `output` is Markdown. */
export interface IActionEntry {
  kind: 'action';
  id: string;
  title: string;
  proposalId?: string;
  status: 'running' | 'ok' | 'error' | 'cancelled';
  message?: string;
  fraction?: number;
  output: string;
  /** Files that it wrote. */
  paths: readonly string[];
}

/** What a message was understood to ask of the services. */
export type IDetectedIntent = Pick<
  IntentDetected,
  'service' | 'subcommand' | 'title' | 'alternatives' | 'how'
>;

/** One thing that is in a turn, in the order in which it came up. */
export type Entry =
  | ITextEntry
  | IReasoningEntry
  | IToolEntry
  | IApprovalEntry
  | IQuestionEntry
  | INoticeEntry
  | IUndoneEntry
  | ICompactedEntry
  | IHelpEntry
  | IActionsOfferedEntry
  | IProposalEntry
  | IActionEntry;

/** What is going on now, from which the activity label is made. */
export type Activity =
  | { kind: 'starting' }
  | { kind: 'model'; attempt: number }
  | { kind: 'reasoning' }
  | { kind: 'writing' }
  | { kind: 'tools' }
  | { kind: 'message'; message: string };

/** What was decided on a turn's changes: on all that were open, and on single ones. */
export interface IDecided {
  all: boolean;
  /** Ids of cells; the empty id, of older events, represents every file. */
  cells: ReadonlySet<string>;
  /** Paths of documents as a whole. */
  files: ReadonlySet<string>;
}

export const NOTHING_DECIDED: IDecided = {
  all: false,
  cells: new Set(),
  files: new Set()
};

/** What another model answers to the message of a turn. */
export interface IAnswer {
  id: string;
  model: string;
  /** Pieces of the answer, in order. */
  parts: readonly { id: string; text: string }[];
  status: 'running' | 'completed' | 'stopped' | 'failed';
  /** Why it did not come to its end. */
  message?: string;
  /** What goes on, where it is not just answering. */
  activity?: string;
  startedAt?: number;
  durationMs?: number;
  usage?: Usage;
  provenance?: Provenance;
  /** What it read. */
  calls: readonly IToolEntry[];
  /** Of a synthesis: the answers that it is of. */
  sources?: readonly CitedAnswer[];
}

/** A message of the user and everything that came of it. Times in ms. */
export interface ITurn {
  id: string;
  message: string;
  mode: Mode;
  notebookMode: NotebookMode;
  model?: string;
  target?: string;
  /** The ready workflow that was asked for. */
  workflow?: WorkflowCall;
  /** The models that answer it side by side. */
  compare?: readonly string[];
  /** The service that answers it. */
  intent?: IDetectedIntent;
  /** Whether its command is none that there is. */
  hasUnknownCommand?: boolean;
  startedAt: number;
  status: 'running' | 'completed' | 'aborted';
  abortReason?: TurnAborted['reason'];
  durationMs?: number;
  firstTokenMs?: number;
  usage?: Usage;
  /** What it changed and ran, counted from results: a turn in Agent mode that is complete. */
  facts?: FinalReply['facts'];
  entries: readonly Entry[];
  changes: readonly Change[];
  /** What was decided on the changes. */
  decided: IDecided;
  /** Cells that an undo left as they are, since they were changed after the turn. */
  conflicts: readonly UndoConflict[];
  plan?: IPlan;
  /** What could be done about the cells that failed, without a model. */
  offers: readonly IFixOffer[];
  /** Workflows that are close to the message, which no model could answer. */
  workflows: readonly WorkflowOffer[];
  /** What other models answered to the same message. */
  answers: readonly IAnswer[];
  /** The one of them that the session goes on from; without one, from the first answer. */
  chosen?: string;
  activity: Activity;
}

/** A turn of which nothing is known yet but its id. */
export function emptyTurn(id: string): ITurn {
  return {
    id,
    message: '',
    mode: 'ask',
    notebookMode: 'off',
    startedAt: 0,
    status: 'running',
    entries: [],
    changes: [],
    decided: NOTHING_DECIDED,
    conflicts: [],
    offers: [],
    workflows: [],
    answers: [],
    activity: { kind: 'starting' }
  };
}

/** The texts of its answer, in order, without blank ones. */
export function textsOf({ entries }: ITurn): string[] {
  return entries.flatMap(entry =>
    entry.kind === 'text' && entry.text.trim() ? [entry.text] : []
  );
}

/** What in a turn waits for the user. */
export function waitingIn(turn: ITurn): (IApprovalEntry | IQuestionEntry)[] {
  if (turn.status !== 'running') {
    return [];
  }
  return turn.entries.filter(
    (entry): entry is IApprovalEntry | IQuestionEntry =>
      (entry.kind === 'approval' && !entry.decision) ||
      (entry.kind === 'question' && entry.open)
  );
}

/** Whether it ended because the user did not approve what it was about to do. */
export function wasDenied({ abortReason, entries }: ITurn): boolean {
  const last = entries.filter(entry => entry.kind === 'tool').pop();
  return (
    abortReason === 'error' &&
    last?.status === 'denied' &&
    entries.some(
      entry =>
        entry.kind === 'approval' &&
        entry.callId === last.id &&
        entry.decision === 'deny'
    ) &&
    !entries.some(entry => entry.kind === 'notice' && entry.level === 'error')
  );
}
