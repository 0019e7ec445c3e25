import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { ApiError } from '../api/errors';
import { Event } from '../api/types';
import { IPanelConnection } from '../panel/services';
import { Value } from '../panel/state/value';
import { IProposal, parseAnswer } from '../proposals';
import { activityOf, AnswerText } from './answer';
import { Board } from './board';
import { OurTurn } from './ourTurn';
import { InlineSessions } from './sessions';
import { IInlineState, NOTHING } from './state';
import { IInlineTarget } from './target';

/** What an inline chat works with. */
export interface IInlineOptions {
  target: IInlineTarget;
  connection: IPanelConnection;
  sessions: InlineSessions;
  /** The chat is over. */
  onClose: () => void;
}

/** An inline chat: what is asked, the answer as it comes, and what is decided on its proposals. */
export class InlineModel implements IDisposable {
  constructor(private readonly _options: IInlineOptions) {
    _options.connection.inputFocused();
    _options.target.gone.connect(() => this.close());
  }

  readonly state = new Value<IInlineState>(NOTHING);

  get target(): IInlineTarget {
    return this._options.target;
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
    this._stopTurn();
    this._subscription?.dispose();
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
  async send(message: string, shown = message): Promise<void> {
    const { question } = this.state.current;
    if (question) {
      this.state.patch({ question: null, activity: 'Thinking' });
      await this._order({
        type: 'user_input_answer',
        requestId: question.requestId,
        answer: message
      });
      return;
    }
    this._begin(shown);
    const { target, connection, sessions } = this._options;
    const place = target.place();
    try {
      const session = await sessions.of(target.path);
      if (this._isDisposed) {
        return;
      }
      this._listen(session.id, session.lastSeq);
      const opId = await connection.submit(session.id, {
        type: 'user_message',
        request: {
          message,
          sessionId: session.id,
          mode: 'edit',
          location: 'inline',
          clientId: connection.clientId,
          ...place
        }
      });
      this._turn.accepted(opId).forEach(event => this._onEvent(event));
      if (this._turn.isUnwanted) {
        this._stopTurn();
      }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') {
        sessions.forget(target.path);
        this._unlisten();
      }
      this._failed(message, error);
    }
  }

  /** Show proposals that were made elsewhere, of the texts as they are now; `words` says where. */
  async offer(proposals: readonly IProposal[], words: string): Promise<void> {
    this._stopTurn();
    this._begin(words);
    this._turn.end();
    this.state.patch({ activity: null });
    this.target.place();
    await this._propose(proposals, true);
    const { pending, notice } = this.state.current;
    if (!pending.count && !notice && !this._isDisposed) {
      this.state.patch({ notice: 'It is like that already.' });
    }
  }

  /** Show an answer that needed no model. */
  tell(asked: string, prose: string): void {
    this._stopTurn();
    this._begin(asked);
    this._turn.end();
    this.state.patch({ activity: null, prose });
  }

  /** Show that something is done about what was asked. */
  busy(asked: string, activity: string): void {
    this.state.patch({ asked, activity, notice: null });
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

  /** The person has begun to write: what a message needs is made ready meanwhile. */
  typing(): void {
    const { sessions, target } = this._options;
    sessions.of(target.path).then(
      session => {
        if (!this._isDisposed) {
          this._listen(session.id, session.lastSeq);
        }
      },
      () => undefined // Told when the message is sent.
    );
  }

  /** Stop the answer that is under way; what has come of it stays. */
  stop(): void {
    this._stopTurn();
    this._stopped.emit();
  }

  decideApproval(decision: 'approve' | 'approve_for_session' | 'deny'): void {
    const { approval } = this.state.current;
    if (approval) {
      const { approvalId } = approval;
      this.state.patch({ approval: null });
      void this._order({ type: 'approval_decision', approvalId, decision });
    }
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
    const written = this.take();
    if (written) {
      this._finish(run ? written : []);
    }
  }

  /**
   * Write all that is proposed, and stay open; the cells that were written, null where something
   * could not be.
   */
  take(): string[] | null {
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
      this.state.patch({
        notice: 'What you have typed in is left. Look at it, and decide.'
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

  /** Leave everything as it was, and go back there. */
  close(): void {
    const { target } = this;
    this._options.onClose();
    if (!target.isDisposed) {
      target.focusBack();
    }
    this.dispose();
  }

  private _finish(run: readonly string[]): void {
    const { target } = this;
    this.close();
    if (run.length && target.canRun) {
      target.run(run);
    }
  }

  private _begin(message: string): void {
    this._answer = new AnswerText();
    this._turn.begin();
    this._hasProposal = false;
    this.state.patch({
      asked: message,
      activity: 'Thinking',
      prose: '',
      notice: null,
      note: null,
      approval: null,
      question: null,
      draft: null
    });
  }

  private _listen(sessionId: string, after: number): void {
    if (this._sessionId !== sessionId) {
      this._unlisten();
      this._sessionId = sessionId;
      this._subscription = this._options.connection.subscribe(
        sessionId,
        after,
        event => this._onEvent(event)
      );
    }
  }

  private _unlisten(): void {
    this._subscription?.dispose();
    this._subscription = null;
    this._sessionId = null;
  }

  private _onEvent(event: Event): void {
    if (this._isDisposed) {
      return;
    }
    if (event.type === 'session_deleted') {
      this._options.sessions.forget(this.target.path);
      this._unlisten();
      this._over('The conversation was deleted.');
      return;
    }
    if (!this._turn.has(event)) {
      return;
    }
    const activity = activityOf(event);
    if (
      activity &&
      this.isWorking &&
      activity !== this.state.current.activity
    ) {
      this.state.patch({ activity });
    }
    if (this._answer.apply(event)) {
      this._schedule();
      return;
    }
    switch (event.type) {
      case 'approval_requested':
        this.state.patch({ approval: event, activity: 'Waiting for you' });
        break;
      case 'approval_resolved':
        this.state.patch({ approval: null, activity: 'Thinking' });
        break;
      case 'user_input_requested':
        this.state.patch({ question: event, activity: 'Waiting for you' });
        break;
      case 'error':
        if (event.turnId) {
          this._error = event.message;
        } else {
          this._over(event.message);
        }
        break;
      case 'turn_completed':
        this._over(this._error);
        break;
      case 'turn_aborted':
        this._over(
          this._error ??
            (event.reason === 'interrupted' ? 'Stopped.' : 'It was cut short.')
        );
        break;
      default:
        break; // Of no concern in a cell.
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
    const { prose, proposals } = parseAnswer(this._answer.text, isOver);
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
      this._board = new Board(this.target, () => this._onBoard());
    }
    try {
      await this._board?.show(proposals, isOver);
      this._onBoard();
    } catch (error) {
      this._failed('', error);
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

  private _over(notice: string | null): void {
    this._turn.end();
    const { asked } = this.state.current;
    const hasAnswer = this._answer.text.trim() !== '';
    this.state.patch({
      activity: null,
      approval: null,
      question: null,
      notice,
      draft: notice && !hasAnswer ? asked : null
    });
    this._error = null;
    this._show(true);
  }

  private _failed(message: string, error: unknown): void {
    this._turn.failed();
    this.state.patch({
      activity: null,
      notice: error instanceof Error ? error.message : String(error),
      draft: message || null
    });
  }

  private _stopTurn(): void {
    const { isRunning, queued } = this._turn;
    if (isRunning) {
      void this._order({ type: 'interrupt' });
    } else if (queued) {
      void this._order({ type: 'dequeue', opId: queued });
      this._turn.end();
      if (!this._isDisposed) {
        this._over('Stopped.');
      }
    } else {
      this._turn.isUnwanted = true;
    }
  }

  private async _order(
    op: Parameters<IPanelConnection['submit']>[1]
  ): Promise<void> {
    if (this._sessionId) {
      try {
        await this._options.connection.submit(this._sessionId, op);
      } catch (error) {
        if (!this._isDisposed) {
          this._failed('', error);
        }
      }
    }
  }

  private _proposals: readonly IProposal[] = [];
  private readonly _stopped = new Signal<this, void>(this);
  /** Fulfilled when the proposals that came last are on the page. */
  private _shown: Promise<void> = Promise.resolve();
  /** All is accepted in one go, by who decides what comes then. */
  private _isTaking = false;
  private _board: Board | null = null;
  private _answer = new AnswerText();
  private _error: string | null = null;
  private _sessionId: string | null = null;
  private _subscription: IDisposable | null = null;
  private readonly _turn = new OurTurn();
  private _hasProposal = false;
  private _frame: number | null = null;
  private _isDisposed = false;
}
