import { IInputModel } from '@jupyter/chat/lib/input-model';
import { IDisposable } from '@lumino/disposable';

import { IShown } from '../sessionList/sessionController';
import { IReadable } from '../../session/observable';
import { TabDrafts } from '../../ui/tabDrafts';

/** How long after the last key the draft is written, in ms. */
const QUIET_MS = 250;

/**
 * Keeps the text of the input over a reload: each session has its own draft, in this tab alone.
 */
export class Draft implements IDisposable {
  constructor(
    private readonly _input: IInputModel,
    private readonly _shown: IReadable<IShown>,
    tab?: Storage
  ) {
    this._drafts = new TabDrafts('datalayer-agent:draft:', tab);
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
        this._drafts.save(idOf(before), '');
        this._write();
      }
      return;
    }
    const text = this._input.value;
    if (now.sessionId === null && text) {
      // What was begun goes along into the new session.
      this._drafts.save(idOf(before), '');
      this._write();
      return;
    }
    this._drafts.save(idOf(before), text);
    this._load();
  }

  private _load(): void {
    const text = this._drafts.load(idOf(this._last));
    if (text !== this._input.value) {
      this._input.value = text;
    }
  }

  private readonly _write = (): void => {
    window.clearTimeout(this._timer);
    this._drafts.save(idOf(this._last), this._input.value);
  };

  private readonly _drafts: TabDrafts;
  private _last: IShown;
  private _timer = 0;
  private _isDisposed = false;
  private readonly _unsubscribe: () => void;
}

function idOf({ sessionId }: IShown): string {
  return sessionId ?? '';
}
