import { Event } from '../api/types';

/** Which turn of the session answers what was asked last. */
export class PendingTurn {
  /** A message is on its way: its turn is yet to begin. */
  begin(): void {
    this.isUnwanted = false;
    this._isAsking = true;
    this._opId = null;
    this._turnId = null;
    this._early = [];
  }

  /** The message became this op; the events that came before that was known, to be seen again. */
  accepted(opId: string): Event[] {
    this._opId = opId;
    const early = this._early;
    this._early = [];
    return early;
  }

  /** The message could not be sent. A turn that runs goes on. */
  failed(): void {
    this._isAsking = false;
  }

  /** The turn is over, or will never begin. */
  end(): void {
    this._isAsking = false;
    this._turnId = null;
  }

  /** Whether the turn has begun and is not over. */
  get isRunning(): boolean {
    return this._turnId !== null;
  }

  /** Whether nothing is asked, or all of it is answered. */
  get isOver(): boolean {
    return !this._isAsking && !this.isRunning;
  }

  /** The op whose turn has not begun; null for none. */
  get queued(): string | null {
    return this._isAsking ? this._opId : null;
  }

  /** Whether an event is of our turn. */
  has(event: Event): boolean {
    if (this._isAsking && this._opId === null) {
      // It may be ours: the answer to the op, which says its id, is on its way.
      this._early.push(event);
      return false;
    }
    if (event.type === 'error' && !event.turnId) {
      // The message was refused: it will have no turn.
      return this._isAsking && event.opId === this._opId;
    }
    if (event.type !== 'turn_started' && event.type !== 'op_queued') {
      return !!event.turnId && event.turnId === this._turnId;
    }
    if (!this._isAsking || event.opId !== this._opId) {
      return false;
    }
    if (event.type === 'turn_started') {
      this._turnId = event.turnId ?? null;
      this._isAsking = false;
    }
    return true;
  }

  /** It was stopped before it could be named: to be stopped as soon as it can. */
  isUnwanted = false;

  private _isAsking = false;
  private _opId: string | null = null;
  private _turnId: string | null = null;
  private _early: Event[] = [];
}
