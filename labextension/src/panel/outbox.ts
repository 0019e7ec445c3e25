import { Event } from '../api/types';
import { Value } from './state/value';

/** A message on its way: sent, and neither begun nor queued yet. */
export interface ISending {
  message: string;
  opId?: string;
}

/** The messages that are on their way to the server. */
export class Outbox extends Value<readonly ISending[]> {
  constructor() {
    super([]);
  }

  /** A message sets out. */
  add(message: string): ISending {
    const sending: ISending = { message };
    this.set([...this.current, sending]);
    return sending;
  }

  /** The server has taken the message; it is on its way until an event tells of it. */
  accepted(sending: ISending, opId: string): void {
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

  /** An event may tell that a message has arrived, even before it was accepted. */
  onEvent(event: Event): void {
    if (event.type !== 'op_queued' && event.type !== 'turn_started') {
      return;
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
  }

  private readonly _seen = new Set<string>();
}
