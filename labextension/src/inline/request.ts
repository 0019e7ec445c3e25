import { IDisposable } from '@lumino/disposable';

import { ApiError, messageOf } from '../api/errors';
import { Decide } from '../approvals/Approval';
import { Event, Op, UserInputAnswer } from '../api/types';
import { IPanelConnection } from '../api/services';
import { incompleteNotice } from '../session/finalReply';
import { abortLabel, activityLabel } from '../session/turnLabels';
import { Observable } from '../session/observable';
import { reduceTurn } from '../session/reduceTurn';
import { emptyTurn, textsOf, waitingIn } from '../session/turn';
import { IAsked } from './openChats';
import { PendingTurn } from './pendingTurn';
import { InlineSessions } from './sessions';
import { IInlineState, IOffer } from './state';
import { IInlineTarget } from './target';

/** What messages are sent with, and who hears of their answers. */
export interface IInlineRequestOptions {
  target: IInlineTarget;
  connection: IPanelConnection;
  sessions: InlineSessions;
  state: Observable<IInlineState>;
  /** A message was sent. */
  onSent: (asked: IAsked) => void;
  /** Another question is asked: what comes now belongs to it. */
  onBegin: () => void;
  /** The answer is another text now. */
  onText: () => void;
  /** No more text comes. */
  onOver: () => void;
}

/** The messages of an inline chat, and the turns that answer them, as they come. */
export class InlineRequest implements IDisposable {
  constructor(private readonly _options: IInlineRequestOptions) {
    _options.connection.statusChanged.connect(this._onStatus, this);
  }

  /** The answer as far as it has come. */
  get text(): string {
    return textsOf(this._answer).join('\n\n');
  }

  /** Whether nothing is asked, or all of it is answered. */
  get isOver(): boolean {
    return this._turn.isOver;
  }

  /** What it ends with, and the message that it answers. */
  get last(): { answer: string; message: string } {
    const answer = textsOf(this._answer).pop() ?? '';
    return { answer, message: this._message };
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._options.connection.statusChanged.disconnect(this._onStatus, this);
      this.stop();
      this._subscription?.dispose();
    }
  }

  /** Ask; or, where the assistant asked, answer. `shown` is in the box for the message. */
  async send(message: string, shown: string): Promise<void> {
    const { waiting } = this._state.current;
    if (waiting?.kind === 'question') {
      await this.answer(waiting.id, { answer: message });
      return;
    }
    this._begin(shown, message);
    const { target, connection, sessions } = this._options;
    const place = target.requestContext();
    const decided = sessions.decided.of(target.path);
    try {
      const session = await sessions.of(target.path);
      if (this._isDisposed) {
        return;
      }
      this._listen(session.id, session.lastSeq);
      const after = this._seen;
      const opId = await connection.submit(session.id, {
        type: 'user_message',
        request: {
          message,
          sessionId: session.id,
          mode: 'edit',
          location: 'inline',
          clientId: connection.clientId,
          decided: [...decided],
          ...place
        }
      });
      sessions.decided.said(target.path, decided);
      this._options.onSent({
        sessionId: session.id,
        opId,
        after,
        message,
        shown
      });
      this._turn.accepted(opId).forEach(event => this._onEvent(event));
      if (this._turn.isUnwanted) {
        this.stop();
      }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') {
        sessions.forget(target.path);
        this._unlisten();
      }
      this.failed(error, message);
    }
  }

  /** Run the action that was proposed; false where that could not be asked. */
  async run(parameters: Record<string, unknown>): Promise<boolean> {
    const { action } = this._state.current;
    const { _sessionId: sessionId } = this;
    if (!action || !sessionId) {
      return false;
    }
    const { proposalId, title } = action.entry.proposal;
    this._begin(title, null);
    this._state.patch({ action });
    try {
      const opId = await this._options.connection.submit(sessionId, {
        type: 'run_action',
        proposalId,
        parameters
      });
      this._turn.accepted(opId).forEach(event => this._onEvent(event));
      return true;
    } catch (error) {
      this.failed(error);
      return false;
    }
  }

  /** Show the answer to what was asked before the page was loaded, as far as it has come. */
  resume({ sessionId, opId, after, message, shown }: IAsked): void {
    this._begin(shown, message);
    this._turn.accepted(opId);
    this._listen(sessionId, after);
  }

  /** What is under way goes on, without this. */
  abandon(): void {
    this._turn.end();
  }

  /** What is shown now was not asked of the assistant: nothing of it is under way any more. */
  detach(shown: string): void {
    this.stop();
    this._begin(shown, null);
    this._turn.end();
    this._state.patch({ activity: null });
  }

  /** What a message needs is made ready. */
  prepare(): void {
    const { sessions, target } = this._options;
    sessions.of(target.path).then(
      session => {
        if (!this._isDisposed) {
          this._listen(session.id, session.lastSeq);
        }
      },
      () => undefined // Reported when the message is sent.
    );
  }

  /** Stop the answer that is under way; what has come of it stays. */
  stop(): void {
    const { isRunning, queued } = this._turn;
    if (isRunning) {
      void this._submit({ type: 'interrupt' });
    } else if (queued) {
      void this._submit({ type: 'dequeue', opId: queued });
      this._turn.end();
      if (!this._isDisposed) {
        this._finish('Stopped.');
      }
    } else {
      this._turn.isUnwanted = true;
    }
  }

  /** Answer a question, in words or by its form. */
  async answer(
    requestId: string,
    given: Pick<UserInputAnswer, 'answer' | 'form'>
  ): Promise<void> {
    await this._answerWaiting({
      type: 'user_input_answer',
      requestId,
      ...given
    });
  }

  decideApproval: Decide = (decision, feedback) => {
    const { waiting } = this._state.current;
    if (waiting?.kind === 'approval') {
      void this._answerWaiting({
        type: 'approval_decision',
        approvalId: waiting.id,
        decision,
        feedback: feedback || undefined
      });
    }
  };

  /** Say what went wrong; `message` is put back into the input. */
  failed(error: unknown, message = ''): void {
    this._turn.failed();
    this._state.patch({
      activity: null,
      notice: messageOf(error),
      draft: message || null
    });
  }

  private get _state(): Observable<IInlineState> {
    return this._options.state;
  }

  private _begin(shown: string, message: string | null): void {
    this._answer = emptyTurn('');
    this._answered = null;
    this._message = message ?? '';
    this._retry =
      message === null
        ? null
        : {
            label: 'Try again',
            act: () => void this.send(message, shown)
          };
    this._turn.begin();
    this._options.onBegin();
    this._state.patch({
      asked: shown,
      activity: 'Thinking',
      prose: '',
      notice: null,
      note: null,
      isDone: false,
      others: [],
      again: null,
      waiting: null,
      action: null,
      ran: null,
      draft: null
    });
  }

  private _listen(sessionId: string, after: number): void {
    if (this._sessionId !== sessionId) {
      this._unlisten();
      this._sessionId = sessionId;
      this._seen = after;
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
    this._seen = Math.max(this._seen, event.seq);
    if (this._isDisposed) {
      return;
    }
    if (event.type === 'session_deleted') {
      this._options.sessions.forget(this._options.target.path);
      this._unlisten();
      this._finish('The session was deleted.');
      return;
    }
    if (!this._turn.has(event)) {
      return;
    }
    const { text } = this;
    this._answer = reduceTurn(this._answer, event);
    this._showActivity(
      event.type === 'op_queued'
        ? 'Waiting for the previous answer'
        : activityLabel(this._answer, () => null)
    );
    const waiting = waitingIn(this._answer).find(
      ({ id }) => id !== this._answered
    );
    if (this._state.current.waiting !== (waiting ?? null)) {
      this._state.patch({ waiting: waiting ?? null });
    }
    this._showAction();
    if (this.text !== text) {
      this._options.onText();
    }
    if (event.type === 'error' && !event.turnId) {
      this._finish(event.message);
    } else if (this._answer.status !== 'running') {
      this._finish(
        this._problem ??
          (this._answer.status === 'aborted'
            ? abortLabel(this._answer)
            : (incompleteNotice(this._answer)?.message ?? null))
      );
    }
  }

  /** Show the action that the answer proposes, or what came of its run. */
  private _showAction(): void {
    for (const entry of this._answer.entries) {
      const { action, ran } = this._state.current;
      if (entry.kind === 'proposal' && entry !== action?.entry) {
        this._state.patch({ action: { entry, message: this._message } });
      } else if (entry.kind === 'action' && entry !== ran) {
        this._state.patch({ ran: entry });
      }
    }
  }

  /** Why the answer failed; null where it did not. */
  private get _problem(): string | null {
    const problems = this._answer.entries.flatMap(entry =>
      entry.kind === 'notice' && entry.level === 'error' ? [entry.message] : []
    );
    return problems.pop() ?? null;
  }

  /** Say what is done, while anything is. */
  private _showActivity(activity: string | null): void {
    const now = this._state.current.activity;
    if (activity && now !== null && activity !== now) {
      this._state.patch({ activity });
    }
  }

  private _onStatus(): void {
    const { status } = this._options.connection;
    const { activity } = this._state.current;
    if (status === 'reconnecting' && !this._turn.isOver) {
      this._activityBefore ??= activity;
      this._showActivity('Reconnecting');
    } else if (status === 'connected') {
      if (activity === 'Reconnecting') {
        this._showActivity(this._activityBefore);
      }
      this._activityBefore = null;
    }
  }

  private _finish(notice: string | null): void {
    this._turn.end();
    const { asked } = this._state.current;
    const hasAnswer = this.text !== '';
    this._state.patch({
      activity: null,
      waiting: null,
      notice,
      draft: notice && !hasAnswer && this._retry ? asked : null,
      again: notice && hasAnswer ? this._retry : null
    });
    this._options.onOver();
  }

  /** Answer what waits, which is shown no more. */
  private async _answerWaiting(op: Op): Promise<void> {
    this._answered = this._state.current.waiting?.id ?? null;
    this._state.patch({ waiting: null, activity: 'Thinking' });
    await this._submit(op);
  }

  private async _submit(op: Op): Promise<void> {
    if (this._sessionId) {
      try {
        await this._options.connection.submit(this._sessionId, op);
      } catch (error) {
        if (!this._isDisposed) {
          this.failed(error);
        }
      }
    }
  }

  /** The turn as far as it has come. */
  private _answer = emptyTurn('');
  /** The approval or the question that the user has answered last. */
  private _answered: string | null = null;
  private _message = '';
  /** What was done when the connection was lost. */
  private _activityBefore: string | null = null;
  /** Asks what was asked last. */
  private _retry: IOffer | null = null;
  private _sessionId: string | null = null;
  /** The newest event of the session that has come. */
  private _seen = 0;
  private _subscription: IDisposable | null = null;
  private readonly _turn = new PendingTurn();
  private _isDisposed = false;
}
