import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { IActionHost } from '../actions/host';
import { IPanelClient, IPanelConnection } from '../api/services';
import { FormAnswer } from '../api/types';
import { Decide } from '../approvals/Approval';
import { Observable } from '../session/observable';
import { IProposal, parseAnswer } from '../proposals';
import { InlineRequest } from './request';
import { InlineProposals } from './proposals';
import { IOpenChat, wasAsked } from './openChats';
import { plainProposal } from './plain';
import { Remembered } from './remembered';
import { InlineSessions } from './sessions';
import { IInlineState, NOTHING } from './state';
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
        this.proposals.begin();
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
    this.proposals = new InlineProposals({
      target,
      sessions,
      remembered: this._remembered,
      state: this.state,
      isHidden: () => this._isAside || this._isDeleted,
      onError: error => this._request.failed(error),
      onAllDecided: () => this._closeAndRun([])
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

  /** What is proposed here, and what the user decides on it. */
  readonly proposals: InlineProposals;

  get target(): IInlineTarget {
    return this._options.target;
  }

  /** Whether there is anything to run in what is proposed. */
  get canRun(): boolean {
    return this.target.canRun(this.proposals.shown);
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
      this.proposals.finish();
    }
    this.proposals.dispose();
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
      this.proposals.recall(chat);
      this.target.recall(chat);
      // Beginning forgets what was there before.
      this._remembered.restored(chat);
    }
    this.state.patch({ draft: chat.draft ?? null });
  }

  /** Show proposals that were made elsewhere, of the texts as they are now; `shown` says where. */
  async offer(proposals: readonly IProposal[], shown: string): Promise<void> {
    this._request.detach(shown);
    await this.proposals.offer(proposals);
  }

  /** Show a proposal that was made elsewhere beside those that wait for a decision here. */
  async add(proposal: IProposal, shown: string): Promise<void> {
    if (!this.proposals.canBeAddedTo || this.isWorking) {
      await this.offer([proposal], shown);
    } else {
      await this.proposals.add(proposal, shown);
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
    await this.proposals.settled;
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

  /** Answer a form of an MCP server. */
  fillIn(requestId: string, form: FormAnswer): void {
    void this._request.answer(requestId, { form });
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
    const written = this.proposals.take(run);
    if (written) {
      this._closeAndRun(run ? written : []);
    }
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
      !this.proposals.areHidden &&
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
    this.proposals.hide();
    this._remembered.setAside(true);
    this._options.onAside();
    this.target.focusBack();
  }

  /** The user has opened it again. */
  reopen(): void {
    this._isAside = false;
    this._remembered.setAside(false);
    void this.proposals.renew();
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
      void this.proposals.renew();
    } else if (!wasDeleted) {
      this.stop();
      this.proposals.hide();
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
      this.proposals.show(proposals, isOver);
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

  private readonly _request: InlineRequest;
  private readonly _remembered: Remembered;
  private readonly _stopped = new Signal<this, void>(this);
  private _frame: number | null = null;
  private _isDisposed = false;
  private _isLeft = false;
  private _isAside = false;
  private _isDeleted = false;
}
