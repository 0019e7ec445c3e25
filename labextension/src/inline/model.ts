import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { IPanelConnection } from '../panel/services';
import { Value } from '../panel/state/value';
import { IProposal, parseAnswer } from '../proposals';
import { Asking } from './asking';
import { Before, Board, IDecided, nameOf } from './board';
import { IOpenChat, wasAsked } from './openChats';
import { Remembered } from './remembered';
import { InlineSessions } from './sessions';
import { IInlineState, NOTHING } from './state';
import { decisionOf } from './propose';
import { IInlineTarget } from './target';

/** What an inline chat works with. */
export interface IInlineOptions {
  target: IInlineTarget;
  connection: IPanelConnection;
  sessions: InlineSessions;
  /** It was open before the page was loaded: the person is elsewhere. */
  isRestored?: boolean;
  /** The chat is over. */
  onClose: () => void;
}

/** An inline chat: the answer to what is asked as it is shown, and what is decided on its proposals. */
export class InlineModel implements IDisposable {
  constructor(private readonly _options: IInlineOptions) {
    const { target, connection, sessions } = _options;
    this._remembered = new Remembered(target, sessions);
    this._asking = new Asking({
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
    target.gone.connect(() => (target.isLeft ? this._leave() : this.close()));
  }

  readonly state = new Value<IInlineState>(NOTHING);

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

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._asking.dispose();
    if (!this._isLeft) {
      this._board?.conclude();
    }
    this._board?.dispose();
    this.target.dispose();
    // Who waits for an answer waits no longer.
    this.state.patch({ activity: null });
    this._stopped.emit();
    Signal.clearData(this);
  }

  /**
   * Ask; or, where the assistant asked, answer. What is proposed stays until there is better.
   * `shown` is what stands in the box in place of the message.
   */
  send(message: string, shown = message): Promise<void> {
    this._remembered.sent();
    return this._asking.send(message, shown);
  }

  /** Go on where the page, or the notebook, was left. */
  resume(chat: IOpenChat): void {
    if (wasAsked(chat)) {
      this._asking.resume(chat);
      this._before = chat;
      this.target.recall(chat);
      // Beginning forgets what was there before.
      this._remembered.restored(chat);
    }
    this.state.patch({ draft: chat.draft ?? null });
  }

  /** Show proposals that were made elsewhere, of the texts as they are now; `words` says where. */
  async offer(proposals: readonly IProposal[], words: string): Promise<void> {
    this._asking.leave(words);
    proposals.forEach(proposal => this._offered.add(proposal));
    this.target.place();
    await this._propose(proposals, true);
    const { pending, notice } = this.state.current;
    if (!pending.count && !notice && !this._isDisposed) {
      this.state.patch({ notice: 'It is like that already.' });
    }
  }

  /** Show a proposal that was made elsewhere beside those that wait for a decision here. */
  async add(proposal: IProposal, words: string): Promise<void> {
    const board = this._board;
    if (!board || !this.state.current.pending.count || this.isWorking) {
      await this.offer([proposal], words);
      return;
    }
    if (board.waiting.some(other => isSame(other, proposal))) {
      return;
    }
    this._offered.add(proposal);
    this.state.patch({ asked: words });
    this.target.place();
    const left = this._proposals.filter(other => !isForText(other, proposal));
    if (left.length < this._proposals.length) {
      board.withdraw(proposal);
    }
    await this._propose([...left, proposal], true);
  }

  /** Show an answer that needed no model. */
  tell(asked: string, prose: string): void {
    this._asking.leave(asked);
    this.state.patch({ prose });
  }

  /** Show that something is done about what was asked. */
  busy(asked: string, activity: string): void {
    this.state.patch({ asked, activity, notice: null, isDone: false });
  }

  /** What was asked is done: what is said of it stands alone, without an input. */
  conclude(): void {
    this._remembered.forget();
    this.state.patch({ isDone: true });
  }

  /** There is more to ask after all. */
  goOn(): void {
    this.state.patch({ isDone: false });
  }

  /** The person decided on a proposal that was made elsewhere. */
  get decided(): ISignal<this, IDecided> {
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

  /** The person stopped what is under way, or closed the chat. */
  get stopped(): ISignal<this, void> {
    return this._stopped;
  }

  /** The person writes: what a message needs is made ready meanwhile, and a reload loses nothing. */
  typed(text: string): void {
    if (!this._remembered.draft) {
      this._asking.prepare();
    }
    this._remembered.typed(text);
  }

  /** Stop the answer that is under way; what has come of it stays. */
  stop(): void {
    this._asking.stop();
    this._stopped.emit();
  }

  decideApproval(decision: 'approve' | 'approve_for_session' | 'deny'): void {
    this._asking.decideApproval(decision);
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
      this._finish(run ? written : []);
    }
  }

  /**
   * Write all that is proposed, and stay open; the cells that were written, null where something
   * could not be. `run`: they are to be run.
   */
  take(run = true): string[] | null {
    const { pending } = this.state.current;
    if (!this._board || !pending.isComplete || !pending.count) {
      return null;
    }
    const { obstacle } = this.target;
    if (obstacle) {
      this.state.patch({ notice: obstacle });
      return null;
    }
    this._isTaking = true;
    const written = this._board.acceptAll();
    this._isTaking = false;
    if (this._board.pending.count) {
      // What is left can all be decided on by itself.
      if (!this._board.pending.current) {
        this._board.move(1);
      }
      this.state.patch({
        notice: `${run ? 'Nothing was run. ' : ''}What you have typed in is left: decide on each change by itself.`
      });
      return null;
    }
    return written;
  }

  /** Accept or reject the piece that is pointed at. */
  decide(isAccepted: boolean): void {
    const { obstacle } = this.target;
    if (isAccepted && obstacle) {
      this.state.patch({ notice: obstacle });
      return;
    }
    this._board?.decide(isAccepted);
  }

  move(by: number): void {
    this._board?.move(by);
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
  private _leave(): void {
    this._isLeft = true;
    this._remembered.keepDraft();
    this._asking.abandon();
    this._options.onClose();
    this.dispose();
  }

  private _finish(run: readonly string[]): void {
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
        if (!this._isDisposed) {
          this._show(false);
        }
      };
      this._frame = document.hidden
        ? window.setTimeout(show, 50)
        : requestAnimationFrame(show);
    }
  }

  private _show(isOver: boolean): void {
    const { prose, proposals } = parseAnswer(this._asking.text, isOver);
    if (prose !== this.state.current.prose) {
      this.state.patch({ prose });
    }
    if (proposals.length) {
      this._shown = this._propose(proposals, isOver);
    }
  }

  private async _propose(
    proposals: readonly IProposal[],
    isOver: boolean
  ): Promise<void> {
    this._proposals = proposals;
    if (!this._hasProposal) {
      // What was proposed before is replaced, not before there is something new.
      this._hasProposal = true;
      this._board?.dispose();
      this._board = new Board(
        this.target,
        {
          changed: () => this._onBoard(),
          decided: decided => this._onDecided(decided),
          rejected: (of, key, ids) => this._onRejected(of, key, ids)
        },
        this._before
      );
    }
    try {
      await this._board?.show(proposals, isOver);
      this._onBoard();
    } catch (error) {
      this._asking.failed(error);
    }
  }

  private _onDecided(decided: IDecided): void {
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

  private _onBoard(): void {
    if (this._isDisposed || !this._board) {
      return;
    }
    const { pending, lost } = this._board;
    const was = this.state.current.pending;
    this.state.patch({ pending });
    if (lost.size && pending.isComplete && !this.state.current.notice) {
      this.state.patch({
        notice: `Not shown: a proposal for ${[...lost].join(', ')}, which is not in this document.`
      });
    }
    const isDecided = was.isComplete && was.count > 0 && pending.count === 0;
    const { prose } = this.state.current;
    if (isDecided && !this._isTaking && !this.isWorking && !prose) {
      this._finish([]);
    }
  }

  private readonly _asking: Asking;
  private readonly _remembered: Remembered;
  private _proposals: readonly IProposal[] = [];
  /** What was not proposed by this chat's own session. */
  private readonly _offered = new WeakSet<IProposal>();
  private readonly _stopped = new Signal<this, void>(this);
  private readonly _decided = new Signal<this, IDecided>(this);
  /** Fulfilled when the proposals that came last are on the page. */
  private _shown: Promise<void> = Promise.resolve();
  /** All is accepted in one go, by who decides what comes then. */
  private _isTaking = false;
  private _board: Board | null = null;
  private _hasProposal = false;
  private _frame: number | null = null;
  private _isDisposed = false;
  private _isLeft = false;
  /** What was decided of the answer before the page was loaded. */
  private _before: Before = UNDECIDED;
}

const UNDECIDED: Before = { done: [] };

function isSame(one: IProposal, other: IProposal): boolean {
  return (
    one.source === other.source &&
    one.target.kind === other.target.kind &&
    nameOf(one.target) === nameOf(other.target)
  );
}

/** Whether two proposals are for the one text of a cell or a file, which can show only one. */
function isForText(
  { target }: IProposal,
  { target: other }: IProposal
): boolean {
  return (
    (target.kind === 'cell' || target.kind === 'file') &&
    target.kind === other.kind &&
    nameOf(target) === nameOf(other)
  );
}
