import { IInputModel } from '@jupyter/chat/lib/input-model';
import { IDisposable } from '@lumino/disposable';

import { IShown } from '../sessions/sessionController';
import { IReadable } from '../../session/observable';

const PREFIX = 'datalayer-agent:draft:';

/** How long after the last key the draft is written, in ms. */
const QUIET_MS = 250;

/**
 * Keeps what stands in the input over a reload: each session has its own draft, in this tab alone.
 */
export class Draft implements IDisposable {
  constructor(
    private readonly _input: IInputModel,
    private readonly _shown: IReadable<IShown>,
    private readonly _tab: Storage = window.sessionStorage
  ) {
    this._last = _shown.current;
    _input.valueChanged.connect(this._onTyped, this);
    this._unsubscribe = _shown.subscribe(() => this._onShown());
    window.addEventListener('pagehide', this._write);
    this._load();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._write();
    this._input.valueChanged.disconnect(this._onTyped, this);
    this._unsubscribe();
    window.removeEventListener('pagehide', this._write);
  }

  private _onTyped(): void {
    window.clearTimeout(this._timer);
    if (this._input.value) {
      this._timer = window.setTimeout(this._write, QUIET_MS);
    } else {
      this._write();
    }
  }

  private _onShown(): void {
    const before = this._last;
    const now = this._shown.current;
    this._last = now;
    if (now.store === before.store) {
      if (now.sessionId !== before.sessionId) {
        // The session was made for the message that is being sent.
        this._tab.removeItem(keyOf(before));
        this._write();
      }
      return;
    }
    const text = this._input.value;
    if (now.sessionId === null && text) {
      // What was begun goes along into the new session.
      this._tab.removeItem(keyOf(before));
      this._write();
      return;
    }
    this._save(keyOf(before), text);
    this._load();
  }

  private _load(): void {
    const text = this._tab.getItem(keyOf(this._last)) ?? '';
    if (text !== this._input.value) {
      this._input.value = text;
    }
  }

  private readonly _write = (): void => {
    window.clearTimeout(this._timer);
    this._save(keyOf(this._last), this._input.value);
  };

  private _save(key: string, text: string): void {
    try {
      if (text) {
        this._tab.setItem(key, text);
      } else {
        this._tab.removeItem(key);
      }
    } catch (error) {
      // More than the browser keeps: it stays in the input, and would not survive a reload.
      console.warn('datalayer-agent: the draft was not kept', error);
    }
  }

  private _last: IShown;
  private _timer = 0;
  private _isDisposed = false;
  private readonly _unsubscribe: () => void;
}

function keyOf({ sessionId }: IShown): string {
  return PREFIX + (sessionId ?? '');
}
