import { Event } from '../../api/types';
import { Observable } from '../../session/observable';

/** A message on its way: sent, and neither begun nor queued yet. */
export interface ISending {
  message: string;
  opId?: string;
}

/** The messages that are on their way to the server. */
export class SendingMessages extends Observable<readonly ISending[]> {
  constructor() {
    super([]);
  }

  /** A message sets out. */
  add(message: string): ISending {
    const sending: ISending = { message };
    this.set([...this.current, sending]);
    return sending;
  }

  /** The server has taken the message; it is on its way until an event reports it. */
  accepted(sending: ISending, opId: string): void {
    this._messages.set(opId, sending.message);
    if (this._seen.has(opId)) {
      this.remove(sending);
    } else {
      this.set(
        this.current.map(other =>
          other === sending ? { ...sending, opId } : other
        )
      );
    }
  }

  /** The message has arrived, or will not. */
  remove(sending: ISending | undefined): void {
    if (sending) {
      this.set(this.current.filter(other => other !== sending));
    }
  }

  /**
   * An event may report that a message has arrived, even before it was accepted; or that it was
   * refused: then its text comes back.
   */
  onEvent(event: Event): string | null {
    if (event.type === 'error' && event.opId) {
      const { opId } = event;
      const message = this._messages.get(opId) ?? null;
      this._messages.delete(opId);
      this._seen.add(opId);
      this.remove(this.current.find(other => other.opId === opId));
      return message;
    }
    if (event.type !== 'op_queued' && event.type !== 'turn_started') {
      return null;
    }
    if (event.type === 'turn_started' && event.opId) {
      this._messages.delete(event.opId);
    }
    const { opId, message } = event;
    if (opId) {
      this._seen.add(opId);
    }
    this.remove(
      this.current.find(other =>
        opId && other.opId ? other.opId === opId : other.message === message
      )
    );
    return null;
  }

  private readonly _seen = new Set<string>();
  /** What this page sent and has no turn yet, by op. */
  private readonly _messages = new Map<string, string>();
}
