import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { IActionHost } from '../actions/host';
import { IPanelClient, IPanelConnection } from '../api/services';
import { Decide } from '../approvals/Approval';
import { Observable } from '../session/observable';
import { fenced, IFencedBlock, IProposal, parseAnswer } from '../proposals';
import { InlineRequest } from './request';
import {
  Before,
  ProposalReview,
  IDecidedProposal,
  isForText,
  isSame,
  nameOf
} from './proposalReview';
import { IOpenChat, wasAsked } from './openChats';
import { plainProposal, proposalOf } from './plain';
import { Remembered } from './remembered';
import { InlineSessions } from './sessions';
import { IInlineState, NOTHING } from './state';
import { decisionOf } from './propose';
import { IInlineTarget } from './target';

/** What an inline chat works with. */
export interface IInlineOptions {
  target: IInlineTarget;
  client: Pick<IPanelClient, 'dryRun'>;
  connection: IPanelConnection;
  sessions: InlineSessions;
  /** It was open before the page was loaded: the user is elsewhere. */
  isRestored?: boolean;
  /** The chat is over. */
  onClose: () => void;
  /** The chat is left as it is, until it is opened again. */
  onAside: () => void;
}

/** An inline chat: the answer to what is asked as it is shown, and what is decided on its proposals. */
export class InlineModel implements IDisposable {
  constructor(private readonly _options: IInlineOptions) {
    const { target, connection, sessions } = _options;
    this._remembered = new Remembered(target, sessions);
    this._request = new InlineRequest({
      target,
      connection,
      sessions,
      state: this.state,
      onBegin: () => {
        this._hasProposal = false;
        this._before = UNDECIDED;
        this._remembered.forget();
      },
      onSent: asked => {
        if (!this._isDisposed || this._isLeft) {
          this._remembered.asked(asked);
        }
      },
      onText: () => this._schedule(),
      onOver: () => this._show(true)
    });
    if (_options.isRestored) {
      connection.connect();
    } else {
      connection.inputFocused();
    }
    target.gone.connect(() => this._onDocumentClosed());
    target.moved.connect(() => this._onMoved());
  }

  readonly state = new Observable<IInlineState>(NOTHING);

  get target(): IInlineTarget {
    return this._options.target;
  }

  /** Whether there is anything to run in what is proposed. */
  get canRun(): boolean {
    return this.target.canRun(this._proposals);
  }

  get isWorking(): boolean {
    return this.state.current.activity !== null;
  }

  /** What is typed and was not sent. */
  get draft(): string {
    return this._remembered.draft || (this.state.current.draft ?? '');
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._request.dispose();
    if (!this._isLeft) {
      this._review?.finish();
    }
    this._review?.dispose();
    this.target.dispose();
    // Who waits for an answer waits no longer.
    this.state.patch({ activity: null });
    this._stopped.emit();
    Signal.clearData(this);
  }

  /**
   * Ask; or, where the assistant asked, answer. What is proposed stays until there is better.
   * `shown` is what is in the box in place of the message.
   */
  async send(message: string, shown = message): Promise<void> {
    if (this._isAside || this._isDeleted) {
      return; // Who left it does not want an answer any more.
    }
    this._remembered.sent();
    await this._request.send(message, shown);
  }

  /** Run the action that was proposed; false where that could not be asked. */
  runAction(parameters: Record<string, unknown>): Promise<boolean> {
    return this._request.run(parameters);
  }

  /** What the action that was proposed would be run with, and what it asks next. */
  dryRun: IActionHost['dryRun'] = async (id, parameters, activeNotebook) => {
    const { client, connection, sessions } = this._options;
    const { id: sessionId } = await sessions.of(this.target.path);
    return client.dryRun(id.service, id.action, {
      message: '',
      parameters,
      activeNotebook,
      clientId: connection.clientId,
      sessionId
    });
  };

  /** Go on where the page, or the notebook, was left. */
  resume(chat: IOpenChat): void {
    if (wasAsked(chat)) {
      this._request.resume(chat);
      this._before = chat;
      this.target.recall(chat);
      // Beginning forgets what was there before.
      this._remembered.restored(chat);
    }
    this.state.patch({ draft: chat.draft ?? null });
  }

  /** Show proposals that were made elsewhere, of the texts as they are now; `shown` says where. */
  async offer(proposals: readonly IProposal[], shown: string): Promise<void> {
    this._request.detach(shown);
    proposals.forEach(proposal => this._offered.add(proposal));
    this.target.requestContext();
    await this._propose(proposals, true);
    if (!this.state.current.pending.count) {
      this._noteNothingToChange();
    }
  }

  /** Show a proposal that was made elsewhere beside those that wait for a decision here. */
  async add(proposal: IProposal, shown: string): Promise<void> {
    const review = this._review;
    if (!review || !this.state.current.pending.count || this.isWorking) {
      await this.offer([proposal], shown);
      return;
    }
    if (review.waiting.some(other => isSame(other, proposal))) {
      return;
    }
    this._offered.add(proposal);
    this.state.patch({ asked: shown });
    this.target.requestContext();
    await this._addToReview(proposal);
  }

  /** Show a block of the answer, which names no target, as a diff of what the chat is on. */
  async apply(block: IFencedBlock): Promise<void> {
    this.target.renew();
    this.state.patch({ notice: null });
    await this._addToReview(proposalOf(block, this.target.subject));
    if (this._review?.isUnchanged) {
      this._noteNothingToChange();
    }
  }

  /** Show an answer that needed no model. */
  showAnswer(asked: string, prose: string): void {
    this._request.detach(asked);
    this.state.patch({ prose });
  }

  /** Show that something is done about what was asked. */
  busy(asked: string, activity: string): void {
    this.state.patch({ asked, activity, notice: null, isDone: false });
  }

  /** What was asked is done: what is said of it is shown alone, without an input. */
  finish(): void {
    this._remembered.forget();
    this.state.patch({ isDone: true });
  }

  /** There is more to ask after all. */
  continue(): void {
    this.state.patch({ isDone: false });
  }

  /** The user decided on a proposal that was made elsewhere. */
  get decided(): ISignal<this, IDecidedProposal> {
    return this._decided;
  }

  /** What is shown as proposed, as it came. */
  get proposals(): readonly IProposal[] {
    return this._proposals;
  }

  /** Fulfilled when nothing is under way, and what has come is shown. */
  async settled(): Promise<void> {
    const { state } = this;
    if (this.isWorking) {
      await new Promise<void>(resolve => {
        const unsubscribe = state.subscribe(() => {
          if (!this.isWorking) {
            unsubscribe();
            resolve();
          }
        });
      });
    }
    await this._shown;
  }

  /** The user stopped what is under way, or closed the chat. */
  get stopped(): ISignal<this, void> {
    return this._stopped;
  }

  /** The user writes: what a message needs is made ready meanwhile, and a reload loses nothing. */
  typed(text: string): void {
    if (!this._remembered.draft) {
      this._request.prepare();
    }
    this._remembered.typed(text);
    if (this.state.current.draft !== null) {
      this.state.patch({ draft: null });
    }
  }

  /** Stop the answer that is under way; what has come of it stays. */
  stop(): void {
    this._request.stop();
    this._stopped.emit();
  }

  get decideApproval(): Decide {
    return this._request.decideApproval;
  }

  /** Write all that is proposed; with `run`, run the cells that were written. */
  acceptAll(run = false): void {
    const { run: action, activity } = this.state.current;
    if (run && action) {
      if (activity === null) {
        action.act();
      }
      return;
    }
    const written = this.take(run);
    if (written) {
      this._closeAndRun(run ? written : []);
    }
  }

  /**
   * Write all that is proposed, and stay open; the cells that were written, null where something
   * could not be. `run`: they are to be run.
   */
  take(run = true): string[] | null {
    const { pending } = this.state.current;
    if (!this._review || !pending.isComplete || !pending.count) {
      return null;
    }
    const { obstacle } = this.target;
    if (obstacle) {
      this.state.patch({ notice: obstacle });
      return null;
    }
    this._isTaking = true;
    const written = this._review.acceptAll();
    this._isTaking = false;
    if (this._review.pending.count) {
      // What is left can all be decided on by itself.
      if (!this._review.pending.current) {
        this._review.move(1);
      }
      this.state.patch({
        notice: `${run ? 'Nothing was run. ' : ''}Lines you edited were left out: decide on each change individually.`
      });
      return null;
    }
    return written;
  }

  /** Accept or reject the hunk that is pointed at. */
  decide(isAccepted: boolean): void {
    const { obstacle } = this.target;
    if (isAccepted && obstacle) {
      this.state.patch({ notice: obstacle });
      return;
    }
    this._review?.decide(isAccepted);
  }

  move(by: number): void {
    this._review?.move(by);
  }

  /**
   * Leave it, and go back to where the user was. What is under way is stopped; what is undecided or
   * typed is there again when the chat is opened again. Where there is nothing of this it is closed.
   */
  putAside(): void {
    const { pending } = this.state.current;
    const isEmpty =
      this._request.isOver &&
      !pending.count &&
      !this._review?.isHidden &&
      !this.draft.trim();
    if (isEmpty) {
      this.close();
      return;
    }
    this._isAside = true;
    this.stop();
    if (this._request.isOver) {
      // What is under way beside it knows that it was stopped.
      this.state.patch({ activity: null });
    }
    this._review?.hide();
    this._remembered.setAside(true);
    this._options.onAside();
    this.target.focusBack();
  }

  /** The user has opened it again. */
  reopen(): void {
    this._isAside = false;
    this._remembered.setAside(false);
    void this._review?.renew();
  }

  /** Leave everything as it was, and go back there; or, not `isBack`, leave the keyboard where it is. */
  close(isBack = true): void {
    const { target } = this;
    this._remembered.forget();
    this._options.onClose();
    if (isBack && !target.isDisposed) {
      target.focusBack();
    }
    this.dispose();
  }

  /** The document is closed: what is under way goes on, and comes back when it is opened again. */
  private _onDocumentClosed(): void {
    this._isLeft = true;
    this._remembered.keepDraft();
    this._request.abandon();
    this._options.onClose();
    this.dispose();
  }

  /** Its cell, or another one of its proposals, was moved, changed its type, was deleted, or is back. */
  private _onMoved(): void {
    if (this._isAside) {
      return;
    }
    const wasDeleted = this._isDeleted;
    this._isDeleted = !this.target.isThere;
    if (this._isDeleted !== wasDeleted) {
      // In a page that is loaded again no undo brings the cell back.
      this._remembered.setAside(this._isDeleted);
    }
    if (!this._isDeleted) {
      void this._review?.renew();
    } else if (!wasDeleted) {
      this.stop();
      this._review?.hide();
    }
  }

  private _closeAndRun(run: readonly string[]): void {
    const { target } = this;
    this.close();
    if (run.length) {
      target.run(run);
    }
  }

  /** Show what has come in the next frame: more may come until then. */
  private _schedule(): void {
    if (this._frame === null) {
      const show = () => {
        this._frame = null;
        // What is whole was shown at once.
        if (!this._isDisposed && this.isWorking) {
          this._show(false);
        }
      };
      this._frame = document.hidden
        ? window.setTimeout(show, 50)
        : requestAnimationFrame(show);
    }
  }

  private _show(isOver: boolean): void {
    const { text } = this._request;
    const parsed = parseAnswer(text, isOver);
    const plain =
      isOver && !parsed.proposals.length ? this._plainProposal() : null;
    const { prose, proposals } = plain
      ? { prose: text.slice(0, text.lastIndexOf(plain.answer)), ...plain }
      : parsed;
    if (prose !== this.state.current.prose) {
      this.state.patch({ prose });
    }
    if (proposals.length) {
      this._shown = this._propose(proposals, isOver).then(() => {
        if (isOver && this._review?.isUnchanged) {
          this._noteNothingToChange();
        }
      });
    }
  }

  /** What the answer proposes where it names no target; null for nothing, or where it was cut short. */
  private _plainProposal(): {
    answer: string;
    proposals: readonly IProposal[];
  } | null {
    const { answer, message } = this._request.last;
    const proposal =
      this.state.current.notice === null
        ? plainProposal(answer, message, this.target.subject)
        : null;
    return proposal && { answer, proposals: [proposal] };
  }

  private _noteNothingToChange(): void {
    if (!this.state.current.notice && !this._isDisposed) {
      this.state.patch({
        notice: 'No changes needed.'
      });
    }
  }

  /** Show one more proposal, in place of what was proposed for the same text. */
  private async _addToReview(proposal: IProposal): Promise<void> {
    const left = this._proposals.filter(other => !isForText(other, proposal));
    if (left.length < this._proposals.length) {
      this._review?.withdraw(proposal);
    }
    await this._propose([...left, proposal], true);
  }

  private async _propose(
    proposals: readonly IProposal[],
    isOver: boolean
  ): Promise<void> {
    this._proposals = proposals;
    if (!this._hasProposal) {
      // What was proposed before is replaced, not before there is something new.
      this._hasProposal = true;
      this._review?.dispose();
      this._review = new ProposalReview(
        this.target,
        {
          changed: () => this._onReview(),
          decided: decided => this._onDecided(decided),
          rejected: (of, key, ids) => this._onRejected(of, key, ids)
        },
        this._before
      );
      if (this._isAside || this._isDeleted) {
        this._review.hide();
      }
    }
    try {
      await this._review?.show(proposals, isOver);
      this._onReview();
    } catch (error) {
      this._request.failed(error);
    }
  }

  private _onDecided(decided: IDecidedProposal): void {
    const { proposal, outcome, key } = decided;
    const { path } = this.target;
    if (this._offered.has(proposal)) {
      this._decided.emit(decided);
    } else {
      // It is this chat's own answer: its next message says what became of it.
      this._options.sessions.decided.note(
        path,
        decisionOf(proposal.target, outcome)
      );
      this._remembered.decided(key);
    }
  }

  private _onRejected(
    proposal: IProposal,
    key: string,
    ids: readonly number[]
  ): void {
    if (!this._offered.has(proposal)) {
      this._remembered.rejected(key, ids);
    }
  }

  private _onReview(): void {
    if (this._isDisposed || !this._review) {
      return;
    }
    const { pending, lost } = this._review;
    const was = this.state.current.pending;
    this.state.patch({ pending });
    if (lost.size && pending.isComplete && !this.state.current.notice) {
      const names = [...lost].map(({ target }) => nameOf(target));
      const blocks = [...lost].map(fenced);
      this.state.patch({
        notice: `Not shown as a diff: a proposal for ${names.join(', ')}, which is not in this document.`,
        prose: [this.state.current.prose, ...blocks].join('\n\n').trim()
      });
    }
    const isDecided =
      was.isComplete &&
      was.count > 0 &&
      pending.count === 0 &&
      !this._review.isHidden;
    const { prose } = this.state.current;
    if (isDecided && !this._isTaking && !this.isWorking && !prose) {
      this._closeAndRun([]);
    }
  }

  private readonly _request: InlineRequest;
  private readonly _remembered: Remembered;
  private _proposals: readonly IProposal[] = [];
  /** What was not proposed by this chat's own session. */
  private readonly _offered = new WeakSet<IProposal>();
  private readonly _stopped = new Signal<this, void>(this);
  private readonly _decided = new Signal<this, IDecidedProposal>(this);
  /** Fulfilled when the proposals that came last are on the page. */
  private _shown: Promise<void> = Promise.resolve();
  /** All is accepted in one go, by who decides what comes then. */
  private _isTaking = false;
  private _review: ProposalReview | null = null;
  private _hasProposal = false;
  private _frame: number | null = null;
  private _isDisposed = false;
  private _isLeft = false;
  private _isAside = false;
  private _isDeleted = false;
  /** What was decided of the answer before the page was loaded. */
  private _before: Before = UNDECIDED;
}

const UNDECIDED: Before = { done: [] };
