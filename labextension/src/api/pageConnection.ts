import { IDisposable } from '@lumino/disposable';
import { ISignal } from '@lumino/signaling';

import { RequestHandler } from './requests';
import { EventHandler } from './subscriptions';
import {
  DocumentTouched,
  EditorState,
  ErrorBody,
  FileRenamed,
  FileWritten,
  Op,
  WaitingSession
} from './types';

/**
 * - `idle`: `connect` was not called yet
 * - `connecting`: for the first time
 * - `connected`: the server has welcomed the page
 * - `reconnecting`: the connection was lost, or could not be made
 */
export type ConnectionStatus =
  | 'idle'
  | 'connecting'
  | 'connected'
  | 'reconnecting';

/** What an attempt to reconnect reports: its number, from 1, and when it is made. */
export interface IReconnecting {
  attempt: number;
  delayMs: number;
}

/** What the panel and the bridge need of the page's connection. */
export interface IPageConnection {
  /** This browser tab. */
  readonly clientId: string;
  readonly status: ConnectionStatus;
  readonly statusChanged: ISignal<IPageConnection, ConnectionStatus>;
  readonly connected: ISignal<IPageConnection, void>;
  readonly reconnecting: ISignal<IPageConnection, IReconnecting>;
  /** The server refused a message that was not an op. */
  readonly rejected: ISignal<IPageConnection, ErrorBody>;
  /** A session changed a notebook that this page shows, whether the page listens to it or not. */
  readonly touched: ISignal<IPageConnection, DocumentTouched>;
  /** The server wrote this file itself: what the page has loaded may be older. */
  readonly fileWritten: ISignal<IPageConnection, FileWritten>;
  /** A file or folder was renamed, in whatever page: what is open of it has another path now. */
  readonly fileRenamed: ISignal<IPageConnection, FileRenamed>;
  /** The server's time up to which this page was sent all renames, in ms since 1970. */
  readonly renamesKnownUntil: number | undefined;
  /** The sessions that wait for the user, the newest first. */
  readonly waiting: readonly WaitingSession[];
  readonly waitingChanged: ISignal<IPageConnection, void>;
  /** A model was connected or forgotten, in whatever page. */
  readonly modelsChanged: ISignal<IPageConnection, void>;
  connect(): void;
  submit(sessionId: string, op: Op): Promise<string>;
  subscribe(
    sessionId: string,
    after: number,
    handler: EventHandler
  ): IDisposable;
  onRequest(handler: RequestHandler): IDisposable;
  sendEditorState(state: EditorState): void;
  inputFocused(): void;
  panelShown(): void;
}
