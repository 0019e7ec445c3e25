import { IDisposable } from '@lumino/disposable';

import { IPanelConnection } from '../api/services';
import { Observable } from '../session/observable';

/** How the page is connected: `attempt` counts from 1 while it reconnects. */
export interface ILink {
  status: 'online' | 'connecting' | 'offline';
  attempt: number;
}

/** The state of the page's connection, as the panel shows it. */
export class Link extends Observable<ILink> implements IDisposable {
  constructor(
    private readonly _connection: IPanelConnection,
    private readonly _onReturn: () => void
  ) {
    super({ status: 'connecting', attempt: 0 });
    _connection.statusChanged.connect(this._onStatus, this);
    _connection.reconnecting.connect(this._onReconnecting, this);
    this._onStatus();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._connection.statusChanged.disconnect(this._onStatus, this);
    this._connection.reconnecting.disconnect(this._onReconnecting, this);
  }

  private _onStatus(): void {
    const { status } = this._connection;
    if (status === 'connected') {
      const wasLost = this.current.status === 'offline';
      this.set({ status: 'online', attempt: 0 });
      if (wasLost) {
        this._onReturn();
      }
    } else if (status === 'reconnecting') {
      this.set({ status: 'offline', attempt: 1 });
    } else {
      this.set({ status: 'connecting', attempt: 0 });
    }
  }

  private _onReconnecting(_: unknown, { attempt }: { attempt: number }): void {
    this.set({ status: 'offline', attempt });
  }

  private _isDisposed = false;
}
