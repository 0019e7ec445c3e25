import { ChatRequest, ProposalDecision } from '../api/types';
import { IDisposable } from '@lumino/disposable';
import { ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { IFencedBlock, IProposal, ProposalTarget } from '../proposals';
import type { IOpenChat } from './openChats';
import type { ISubject } from './plain';

/** What of a request says where the user is. */
export type RequestContext = Pick<
  ChatRequest,
  'activeNotebook' | 'attachments' | 'cellId' | 'selection'
>;

/** What became of a proposal. */
export type Outcome = ProposalDecision['outcome'];

/** One proposal on the page: a diff in an editor, or a cell that is not there yet. */
export interface IProposalView extends IDisposable {
  /** What is undecided of it has changed. */
  readonly changed: ISignal<IProposalView, void>;
  /** Something could not be accepted, for this reason, and stays undecided. */
  readonly refused: ISignal<IProposalView, string>;
  /** What is undecided; `isBlocked` where accepting all leaves it out. */
  readonly hunks: readonly { id: number; isBlocked: boolean }[];
  /** The hunk that the keys mean; -1 for none. */
  readonly current: number;
  /** The ids of the hunks that were rejected. */
  readonly rejected: readonly number[];
  show(proposal: IProposal): void;
  /** The keys mean this hunk; it is brought into view, unless `isQuiet`. */
  point(id: number, isQuiet?: boolean): void;
  accept(ids: readonly number[]): void;
  reject(ids: readonly number[]): void;
  /** What was decided so far, what is undecided counting as rejected; null for nothing proposed. */
  readonly outcome: Outcome | null;
  /** The cell that has been changed or made by accepting; undefined before, and in a file. */
  readonly written?: string;
  /** What it is shown in is gone, with it: the cell was moved, given another type, or deleted. */
  readonly isLost: boolean;
}

/** The place of an inline chat in its document. */
export type IChatAnchor = Pick<IOpenChat, 'cellId' | 'where'>;

/** The document around an inline chat. */
export interface IInlineTarget extends IDisposable {
  /** The document's path under the server's root; another one when it was renamed. */
  path: string;
  /** What the input asks for. */
  readonly placeholder: string;
  /** Why nothing can be accepted here; null where it can. */
  readonly obstacle: string | null;
  /** What finds the chat's place when the document is opened again. */
  readonly anchor: IChatAnchor;
  /** Whether the document was closed, with what is in it. */
  readonly isLeft: boolean;
  /** The view of the document is gone. */
  readonly gone: ISignal<IInlineTarget, void>;
  /** Cells are shown anew, or were deleted, or have come back; the box has gone with its own. */
  readonly moved: ISignal<IInlineTarget, void>;
  /** Whether the cell is in the document; one that was deleted may come back. */
  readonly isThere: boolean;
  /** Show the box above the editor. */
  attach(box: Widget): void;
  /** Take the box off the page. */
  detach(): void;
  /** Where the user is, as it is now; later proposals are of the texts as they are now. */
  requestContext(): RequestContext;
  /** What the chat is on, with its text as it was when it was asked last. */
  readonly subject: ISubject;
  /**
   * Proposals are of the texts as they are now, but for the chat's own: that was `base`, with
   * `selection` in it, and the document was called `path`.
   */
  recall(chat: Pick<IOpenChat, 'base' | 'path' | 'selection'>): void;
  /** Proposals are of the texts as they are now; what was selected is looked for in them. */
  renew(): void;
  /** Make a cell of a block, next to the chat's own; null where the document has no cells. */
  readonly insert:
    | ((where: 'before' | 'after', block: IFencedBlock) => void)
    | null;
  /**
   * Where a proposal is shown; null where its target is not in this document. `former`: where it was
   * shown before, of whose text it is and of which something may have been written.
   */
  viewFor(
    target: ProposalTarget,
    former?: IProposalView
  ): Promise<IProposalView | null>;
  /** Make all that is written in `act` one step of the undo. */
  asOneStep(views: readonly IProposalView[], act: () => void): void;
  /** Whether there is anything to run in what is proposed. */
  canRun(proposals: readonly IProposal[]): boolean;
  run(cellIds: readonly string[]): void;
  /** Put the keyboard back to where it was. */
  focusBack(): void;
}
