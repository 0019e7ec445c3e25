import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { fenced, IFencedBlock, IProposal } from '../proposals';
import { Observable } from '../session/observable';
import { IOpenChat } from './openChats';
import { proposalOf } from './plain';
import {
  Before,
  IDecidedProposal,
  isForText,
  isSame,
  nameOf,
  ProposalReview
} from './proposalReview';
import { decisionOf } from './propose';
import { Remembered } from './remembered';
import { InlineSessions } from './sessions';
import { IInlineState } from './state';
import { IInlineTarget } from './target';

const UNDECIDED: Before = { done: [] };

/** What an inline chat's proposals work with. */
export interface IInlineProposalsOptions {
  target: IInlineTarget;
  sessions: InlineSessions;
  remembered: Remembered;
  state: Observable<IInlineState>;
  /** Whether the chat is put aside, or its cell deleted. */
  isHidden: () => boolean;
  onError: (error: unknown) => void;
  /** All is decided on, and there is nothing else to show. */
  onAllDecided: () => void;
}

/** What an inline chat proposes, as diffs in the document, and what the user decides on it. */
export class InlineProposals implements IDisposable {
  constructor(private readonly _options: IInlineProposalsOptions) {}

  /** What is shown as proposed, as it came. */
  get shown(): readonly IProposal[] {
    return this._shown;
  }

  /** The user decided on a proposal that was made elsewhere. */
  get decided(): ISignal<this, IDecidedProposal> {
    return this._decided;
  }

  /** Fulfilled when the proposals that came last are on the page. */
  get settled(): Promise<void> {
    return this._settled;
  }

  /** Whether some are kept from view. */
  get areHidden(): boolean {
    return !!this._review?.isHidden;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._review?.dispose();
      Signal.clearData(this);
    }
  }

  /** Another answer begins: what was proposed before stays until there is something new. */
  begin(): void {
    this._hasProposal = false;
    this._before = UNDECIDED;
  }

  /** What was decided of the answer before the page was loaded. */
  recall(chat: IOpenChat): void {
    this._before = chat;
  }

  /** Settle what is written in part; to be called before the chat ends in this document. */
  finish(): void {
    this._review?.finish();
  }

  hide(): void {
    this._review?.hide();
  }

  /** Show them again, of the texts as they are now. */
  async renew(): Promise<void> {
    await this._review?.renew();
  }

  /** Show what an answer proposes, in place of what it proposed so far. */
  show(proposals: readonly IProposal[], isOver: boolean): void {
    this._settled = this._propose(proposals, isOver).then(() => {
      if (isOver && this._review?.isUnchanged) {
        this._noteNothingToChange();
      }
    });
  }

  /** Show proposals that were made elsewhere. */
  async offer(proposals: readonly IProposal[]): Promise<void> {
    proposals.forEach(proposal => this._offered.add(proposal));
    this._options.target.requestContext();
    await this._propose(proposals, true);
    if (!this._options.state.current.pending.count) {
      this._noteNothingToChange();
    }
  }

  /** Whether something is undecided, to which another proposal can be added. */
  get canBeAddedTo(): boolean {
    return !!this._review && this._options.state.current.pending.count > 0;
  }

  /** Show a proposal that was made elsewhere beside those that are undecided; `name` says where. */
  async add(proposal: IProposal, name: string): Promise<void> {
    if (this._review?.waiting.some(other => isSame(other, proposal))) {
      return;
    }
    this._offered.add(proposal);
    this._options.state.patch({ asked: name });
    this._options.target.requestContext();
    await this._addToReview(proposal);
  }

  /** Show a block of the answer, which names no target, as a diff of what the chat is on. */
  async apply(block: IFencedBlock): Promise<void> {
    const { target, state } = this._options;
    target.renew();
    state.patch({ notice: null });
    await this._addToReview(proposalOf(block, target.subject));
    if (this._review?.isUnchanged) {
      this._noteNothingToChange();
    }
  }

  /**
   * Write all that is proposed; the cells that were written, null where something could not be.
   * `run`: they are to be run.
   */
  take(run: boolean): string[] | null {
    const { state } = this._options;
    const { pending } = state.current;
    if (!this._review || !pending.isComplete || !pending.count) {
      return null;
    }
    this._isTaking = true;
    this._refusal = null;
    const written = this._review.acceptAll();
    this._isTaking = false;
    if (this._review.pending.count) {
      // What is left can all be decided on by itself.
      if (!this._review.pending.current) {
        this._review.move(1);
      }
      const why =
        this._refusal ??
        'Lines you edited were left out: decide on each change individually.';
      state.patch({ notice: `${run ? 'Nothing was run. ' : ''}${why}` });
      return null;
    }
    return written;
  }

  /** Accept or reject the hunk that is pointed at. */
  decide(isAccepted: boolean): void {
    this._review?.decide(isAccepted);
  }

  move(by: number): void {
    this._review?.move(by);
  }

  private _noteNothingToChange(): void {
    const { state } = this._options;
    if (!state.current.notice && !this._isDisposed) {
      state.patch({ notice: 'No changes needed.' });
    }
  }

  /** Show one more proposal, in place of what was proposed for the same text. */
  private async _addToReview(proposal: IProposal): Promise<void> {
    const left = this._shown.filter(other => !isForText(other, proposal));
    if (left.length < this._shown.length) {
      this._review?.withdraw(proposal);
    }
    await this._propose([...left, proposal], true);
  }

  private async _propose(
    proposals: readonly IProposal[],
    isOver: boolean
  ): Promise<void> {
    this._shown = proposals;
    if (!this._hasProposal) {
      // What was proposed before is replaced, not before there is something new.
      this._hasProposal = true;
      this._review?.dispose();
      this._review = new ProposalReview(
        this._options.target,
        {
          changed: () => this._onReview(),
          refused: reason => {
            this._refusal = reason;
            this._options.state.patch({ notice: reason });
          },
          decided: decided => this._onDecided(decided),
          rejected: (of, key, ids) => this._onRejected(of, key, ids)
        },
        this._before
      );
      if (this._options.isHidden()) {
        this._review.hide();
      }
    }
    try {
      await this._review?.show(proposals, isOver);
      this._onReview();
    } catch (error) {
      this._options.onError(error);
    }
  }

  private _onDecided(decided: IDecidedProposal): void {
    const { target, sessions, remembered } = this._options;
    const { proposal, outcome, key } = decided;
    if (this._offered.has(proposal)) {
      this._decided.emit(decided);
    } else {
      // It is this chat's own answer: its next message says what became of it.
      sessions.decided.note(target.path, decisionOf(proposal.target, outcome));
      remembered.decided(key);
    }
  }

  private _onRejected(
    proposal: IProposal,
    key: string,
    ids: readonly number[]
  ): void {
    if (!this._offered.has(proposal)) {
      this._options.remembered.rejected(key, ids);
    }
  }

  private _onReview(): void {
    const { state } = this._options;
    if (this._isDisposed || !this._review) {
      return;
    }
    const { pending, lost } = this._review;
    const was = state.current.pending;
    state.patch({ pending });
    if (lost.size && pending.isComplete && !state.current.notice) {
      const names = [...lost].map(({ target }) => nameOf(target));
      const blocks = [...lost].map(fenced);
      state.patch({
        notice: `Not shown as a diff: a proposal for ${names.join(', ')}, which is not in this document.`,
        prose: [state.current.prose, ...blocks].join('\n\n').trim()
      });
    }
    const isDecided =
      was.isComplete &&
      was.count > 0 &&
      pending.count === 0 &&
      !this._review.isHidden;
    const { prose, activity } = state.current;
    if (isDecided && !this._isTaking && activity === null && !prose) {
      this._options.onAllDecided();
    }
  }

  private _shown: readonly IProposal[] = [];
  /** What was not proposed by this chat's own session. */
  private readonly _offered = new WeakSet<IProposal>();
  private readonly _decided = new Signal<this, IDecidedProposal>(this);
  private _settled: Promise<void> = Promise.resolve();
  /** All is accepted in one go, by who decides what comes then. */
  private _isTaking = false;
  /** Why something could not be accepted just now. */
  private _refusal: string | null = null;
  private _review: ProposalReview | null = null;
  private _hasProposal = false;
  private _before: Before = UNDECIDED;
  private _isDisposed = false;
}
