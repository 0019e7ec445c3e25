import { ChatRequest, ProposalDecision } from '../api/types';
import { IDisposable } from '@lumino/disposable';
import { ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { IProposal, ProposalTarget } from '../proposals';
import type { IOpenChat } from './openChats';

/** What of a request says where the person is. */
export type Place = Pick<
  ChatRequest,
  'activeNotebook' | 'attachments' | 'cellId' | 'selection'
>;

/** What became of a proposal. */
export type Outcome = ProposalDecision['outcome'];

/** One proposal on the page: a diff in an editor, or a cell that is not there yet. */
export interface ISlot extends IDisposable {
  /** What is undecided of it has changed. */
  readonly changed: ISignal<ISlot, void>;
  /** What is undecided; `isBlocked` where accepting all leaves it out. */
  readonly pieces: readonly { id: number; isBlocked: boolean }[];
  /** The piece that the keys mean; -1 for none. */
  readonly current: number;
  /** The ids of the pieces that were rejected. */
  readonly rejected: readonly number[];
  show(proposal: IProposal): void;
  point(id: number): void;
  accept(ids: readonly number[]): void;
  reject(ids: readonly number[]): void;
  /** What was decided so far, what is undecided counting as rejected; null for nothing proposed. */
  readonly outcome: Outcome | null;
  /** The cell that has been changed or made by accepting; undefined before, and in a file. */
  readonly written?: string;
}

/** The place of an inline chat in its document. */
export type ISpot = Pick<IOpenChat, 'cellId' | 'where'>;

/** The document around an inline chat. */
export interface IInlineTarget extends IDisposable {
  /** The document's path under the server's root; another one when it was renamed. */
  path: string;
  /** What the input asks for. */
  readonly placeholder: string;
  /** Why nothing can be accepted here; null where it can. */
  readonly obstacle: string | null;
  /** What finds the chat's place when the document is opened again. */
  readonly spot: ISpot;
  /** Whether the document was closed, with what is in it. */
  readonly isLeft: boolean;
  /** The cell, or the view of the file, is gone. */
  readonly gone: ISignal<IInlineTarget, void>;
  /** Show the box above the editor. */
  attach(box: Widget): void;
  /** Where the person is, as it is now; later proposals are of the texts as they are now. */
  place(): Place;
  /** The text of the chat's cell when it was asked last. */
  readonly base: string;
  /**
   * Proposals are of the texts as they are now, but for the chat's own: that was `base`, and the
   * document was called `path`.
   */
  recall(chat: Pick<IOpenChat, 'base' | 'path'>): void;
  /** Where a proposal is shown; null where its target is not in this document. */
  slotFor(target: ProposalTarget): Promise<ISlot | null>;
  /** Make all that is written in `act` one step of the undo. */
  asOneStep(slots: readonly ISlot[], act: () => void): void;
  /** Whether there is anything to run in what is proposed. */
  canRun(proposals: readonly IProposal[]): boolean;
  run(cellIds: readonly string[]): void;
  /** Put the keyboard back to where it was. */
  focusBack(): void;
}
