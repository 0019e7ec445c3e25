import { useSyncExternalStore } from 'react';

/** Something that has a value now and notifies when it changes. */
export interface IReadable<T> {
  readonly current: T;
  subscribe(listener: () => void): () => void;
}

/** A value that notifies its listeners at once. */
export class Observable<T> implements IReadable<T> {
  constructor(private _current: T) {}

  get current(): T {
    return this._current;
  }

  /** Take another value; the same one notifies nobody. */
  set(next: T): void {
    if (!Object.is(next, this._current)) {
      this._current = next;
      this.notify();
    }
  }

  /** Change an object's fields. */
  patch(fields: Partial<T>): void {
    this.set({ ...this._current, ...fields });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  };

  protected notify(): void {
    for (const listener of [...this._listeners]) {
      listener();
    }
  }

  private _listeners = new Set<() => void>();
}

/** A value that notifies its listeners once a frame, however often it changes. */
export class FrameObservable<T> extends Observable<T> {
  protected notify(): void {
    if (this._scheduled) {
      return;
    }
    this._scheduled = true;
    nextFrame(() => {
      this._scheduled = false;
      super.notify();
    });
  }

  private _scheduled = false;
}

/** Run in the next frame; a hidden page has none, so there by the clock. */
function nextFrame(run: () => void): void {
  if (document.hidden) {
    setTimeout(run, 100);
  } else {
    requestAnimationFrame(run);
  }
}

/** The value of a readable, in a component. */
export function useValue<T>(readable: IReadable<T>): T {
  return useSyncExternalStore(readable.subscribe, () => readable.current);
}
