import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import type { IChangedStore, IChangesDecider, IChangesSource } from './source';

/** A conversation of which the page shows changes, and where these are decided on. */
export interface ISessionOnPage {
  /** Null until a new conversation has its first message. */
  readonly sessionId: string | null;
  readonly store: IChangedStore;
  readonly decider: IChangesDecider;
}

interface ILeft extends ISessionOnPage, IDisposable {}

/** How many conversations are followed that the panel shows no more. */
const MOST_LEFT = 5;

/**
 * The conversation that the panel shows, and those that it showed before and in which something
 * waits for a decision still: the page goes on listening to them until nothing does.
 */
export class SessionsOnPage {
  constructor(private readonly _source: IChangesSource) {
    _source.shown.subscribe(() => this._onShown());
    _source.changes.deciding.subscribe(() => this._changed.emit());
    this._onShown();
  }

  /** Something waits, or waits no more, or a turn began or ended. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The one that is shown, and then the others, those left last before those left earlier. */
  get all(): readonly ISessionOnPage[] {
    return [this._shown!, ...[...this._left.values()].reverse()];
  }

  get shown(): ISessionOnPage {
    return this._shown!;
  }

  private _onShown(): void {
    const { sessionId, store, isLoading } = this._source.shown.current;
    const { _shown: before } = this;
    // Until it is here again, what is known of it stands.
    if (sessionId && !isLoading) {
      this._forget(sessionId);
    }
    this._shown = { sessionId, store, decider: this._source.changes };
    if (store === before?.store) {
      return;
    }
    this._stop();
    this._stop = heed(store, () => this._changed.emit());
    if (before?.sessionId && before.sessionId !== sessionId) {
      this._leave(before.sessionId, before.store);
    }
    this._changed.emit();
  }

  /** Go on listening to a conversation that the panel leaves. */
  private _leave(sessionId: string, store: IChangedStore): void {
    if (!store.open.current.length || this._source.isDeleted(sessionId)) {
      return;
    }
    const decider = this._source.deciderOf(sessionId);
    const subscription = this._source.listen(sessionId, store, event => {
      decider.onEvent(event);
      if (event.type === 'session_deleted' || !store.open.current.length) {
        this._forget(sessionId);
        this._changed.emit();
      }
    });
    const tell = () => this._changed.emit();
    const stops = [heed(store, tell), decider.deciding.subscribe(tell)];
    this._left.set(sessionId, {
      sessionId,
      store,
      decider,
      isDisposed: false,
      dispose: () => {
        subscription.dispose();
        stops.forEach(stop => stop());
      }
    });
    const [oldest] = this._left.keys();
    if (this._left.size > MOST_LEFT) {
      this._forget(oldest);
    }
  }

  private _forget(sessionId: string): void {
    this._left.get(sessionId)?.dispose();
    this._left.delete(sessionId);
  }

  private _shown: ISessionOnPage | null = null;
  private _stop: () => void = () => undefined;
  private readonly _left = new Map<string, ILeft>();
  private readonly _changed = new Signal<this, void>(this);
}

/** Call when something waits or waits no more, or a turn begins or ends. */
function heed(store: IChangedStore, tell: () => void): () => void {
  const stops = [
    store.open.subscribe(tell),
    store.conversation.subscribe(tell)
  ];
  return () => stops.forEach(stop => stop());
}
