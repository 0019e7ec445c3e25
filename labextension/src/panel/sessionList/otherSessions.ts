import { IDisposable } from '@lumino/disposable';

import { WaitingSession } from '../../api/types';
import { IPanelConnection } from '../../api/services';
import { IShown } from './sessionController';
import { IReadable, Observable } from '../../session/observable';

/** The sessions that wait for the user and that the panel does not show, the newest first. */
export class OtherSessions
  extends Observable<readonly WaitingSession[]>
  implements IDisposable
{
  constructor(
    private readonly _connection: IPanelConnection,
    private readonly _shown: IReadable<IShown>
  ) {
    super([]);
    _connection.waitingChanged.connect(this._update, this);
    this._stop = _shown.subscribe(() => this._update());
    this._update();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._connection.waitingChanged.disconnect(this._update, this);
    this._stop();
  }

  private _update(): void {
    const shownId = this._shown.current.sessionId;
    const others = this._connection.waiting.filter(
      ({ sessionId }) => sessionId !== shownId
    );
    if (others.length || this.current.length) {
      this.set(others);
    }
  }

  private readonly _stop: () => void;
  private _isDisposed = false;
}
