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

interface IOther extends ISessionOnPage, IDisposable {}

/** How many conversations are followed that the panel does not show. */
const MOST_OTHERS = 5;

/**
 * The conversation that the panel shows, and others that changed something here: those that it
 * showed before, and those of `%agent` cells and of other pages. The page listens to them for as long
 * as something in them waits for a decision.
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

  /** The one that is shown, and then the others, the newest of them first. */
  get all(): readonly ISessionOnPage[] {
    return [this._shown!, ...[...this._others.values()].reverse()];
  }

  get shown(): ISessionOnPage {
    return this._shown!;
  }

  /** Listen to a conversation that changed something here, if nobody does yet. */
  async adopt(sessionId: string): Promise<void> {
    if (this._isKnown(sessionId) || this._adopting.has(sessionId)) {
      return;
    }
    this._adopting.add(sessionId);
    try {
      const { store, isRunning } = await this._source.read(sessionId);
      if (
        !this._isKnown(sessionId) &&
        (isRunning || store.open.current.length)
      ) {
        this._add(sessionId, store);
        this._changed.emit();
      }
    } finally {
      this._adopting.delete(sessionId);
    }
  }

  private _isKnown(sessionId: string): boolean {
    return (
      sessionId === this._shown?.sessionId ||
      this._others.has(sessionId) ||
      this._source.isDeleted(sessionId)
    );
  }

  private _onShown(): void {
    const { sessionId, store, isLoading } = this._source.shown.current;
    const { _shown: before } = this;
    // Until it is here again, what is known of it is.
    if (sessionId && !isLoading) {
      this._forget(sessionId);
    }
    this._shown = { sessionId, store, decider: this._source.changes };
    if (store === before?.store) {
      return;
    }
    this._stop();
    this._stop = listen(store, () => this._changed.emit());
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
    this._add(sessionId, store);
  }

  private _add(sessionId: string, store: IChangedStore): void {
    const decider = this._source.deciderOf(sessionId);
    const subscription = this._source.listen(sessionId, store, event => {
      decider.onEvent(event);
      const isOver =
        !store.open.current.length && !store.conversation.current.runningTurnId;
      if (event.type === 'session_deleted' || isOver) {
        this._forget(sessionId);
        this._changed.emit();
      }
    });
    const notify = () => this._changed.emit();
    const stops = [listen(store, notify), decider.deciding.subscribe(notify)];
    this._others.set(sessionId, {
      sessionId,
      store,
      decider,
      isDisposed: false,
      dispose: () => {
        subscription.dispose();
        stops.forEach(stop => stop());
      }
    });
    const [oldest] = this._others.keys();
    if (this._others.size > MOST_OTHERS) {
      this._forget(oldest);
    }
  }

  private _forget(sessionId: string): void {
    this._others.get(sessionId)?.dispose();
    this._others.delete(sessionId);
  }

  private _shown: ISessionOnPage | null = null;
  private _stop: () => void = () => undefined;
  private readonly _others = new Map<string, IOther>();
  private readonly _adopting = new Set<string>();
  private readonly _changed = new Signal<this, void>(this);
}

/** Call when something waits or waits no more, or a turn begins or ends. */
function listen(store: IChangedStore, notify: () => void): () => void {
  const stops = [
    store.open.subscribe(notify),
    store.conversation.subscribe(notify)
  ];
  return () => stops.forEach(stop => stop());
}
