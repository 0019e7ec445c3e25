import { DisposableDelegate, IDisposable } from '@lumino/disposable';

import { ClientMessage, Event, SessionEvent } from './types';

export type EventHandler = (event: Event) => void;

/** A listener to one session, and the newest `seq` that it has seen. */
interface IListener {
  seen: number;
  readonly handler: EventHandler;
}

/**
 * Who listens to which session. Each listener gets each event once, in order, over as many
 * connections as that takes.
 */
export class Subscriptions {
  /** @param send - Sends a message if the connection is open, and drops it otherwise. */
  constructor(private readonly _send: (message: ClientMessage) => void) {}

  /** Call `handler` with the session's events with a `seq` over `after`. */
  add(sessionId: string, after: number, handler: EventHandler): IDisposable {
    const listener: IListener = { seen: after, handler };
    const listeners = this._listeners.get(sessionId) ?? new Set();
    listeners.add(listener);
    this._listeners.set(sessionId, listeners);
    // Older events than another listener's come again; `deliver` keeps them from it.
    this._send({ type: 'subscribe', sessionId, after });
    return new DisposableDelegate(() => {
      if (listeners.delete(listener) && listeners.size === 0) {
        this._listeners.delete(sessionId);
        this._send({ type: 'unsubscribe', sessionId });
      }
    });
  }

  deliver({ sessionId, event }: SessionEvent): void {
    for (const listener of [...(this._listeners.get(sessionId) ?? [])]) {
      // Number 0: the server could not write it, and will not send it again.
      if (event.seq > listener.seen || event.seq === 0) {
        listener.seen = Math.max(listener.seen, event.seq);
        try {
          listener.handler(event);
        } catch (error) {
          // One listener's fault must not keep the event from the others.
          console.error(
            `datalayer-agent: handling ${event.type} failed`,
            error
          );
        }
      }
    }
  }

  /** After a reconnect: subscribe again, from the newest event that every listener has seen. */
  resend(): void {
    for (const [sessionId, listeners] of this._listeners) {
      const after = Math.min(...Array.from(listeners, l => l.seen));
      this._send({ type: 'subscribe', sessionId, after });
    }
  }

  private readonly _listeners = new Map<string, Set<IListener>>();
}
