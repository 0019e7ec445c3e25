import {
  IActionEntry,
  IApprovalEntry,
  IProposalEntry,
  IQuestionEntry
} from '../session/turn';
import { IPendingHunks } from './proposalReview';

/** What a chat that was opened for something offers beside its decisions. */
export interface IOffer {
  label: string;
  act: () => void;
}

/** What an inline chat shows. */
export interface IInlineState {
  /** What the user asked last. */
  asked: string;
  /** What the assistant does now; null when nothing is under way. */
  activity: string | null;
  /** The words of the answer, without its proposals. */
  prose: string;
  /** What went wrong, or what the user should know. */
  notice: string | null;
  /** What stands below what was asked: the reason for a proposal, or how far it has come. */
  note: string | null;
  /** All is done: only what was done is shown, with nothing to ask. */
  isDone: boolean;
  /** In place of "Accept and run"; also where nothing is to be accepted. */
  run: IOffer | null;
  /** What could be proposed in its place. */
  others: readonly IOffer[];
  pending: IPendingHunks;
  /** Where the answer broke off: to ask the same again. */
  again: IOffer | null;
  /** What waits for the user. */
  waiting: IApprovalEntry | IQuestionEntry | null;
  /** The action that was proposed, with the message that was understood so. */
  action: { entry: IProposalEntry; message: string } | null;
  /** The run of it. */
  ran: IActionEntry | null;
  /** Put back into the input, as it could not be sent or answered. */
  draft: string | null;
}

/** Nothing was asked yet. */
export const NOTHING: IInlineState = {
  asked: '',
  activity: null,
  prose: '',
  notice: null,
  note: null,
  isDone: false,
  run: null,
  others: [],
  pending: { count: 0, current: 0, blocked: 0, isComplete: false },
  again: null,
  waiting: null,
  action: null,
  ran: null,
  draft: null
};
