import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { PromiseDelegate, UUID } from '@lumino/coreutils';
import { DisposableDelegate, IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { BASE_PATH } from './transport';
import { claimClientId } from './clientId';
import { ApiError } from './errors';
import { PAGE_KEY } from './pageKey';
import {
  ConnectionStatus,
  IPageConnection,
  IReconnecting
} from './pageConnection';
import { isTooLarge, PageRequestHandler, RequestHandler } from './requests';
import { EventHandler, Subscriptions } from './subscriptions';
import {
  ClientMessage,
  DocumentTouched,
  EditorState,
  ErrorBody,
  FileRenamed,
  FileWritten,
  Op,
  OpRejectedMessage,
  ServerMessage,
  SubmitOp,
  WaitingSession
} from './types';

/** Options of a `PageConnection`; all have defaults. */
export interface IPageConnectionOptions {
  settings?: ServerConnection.ISettings;
  clientId?: string;
  /** Delay before the first attempt to reconnect, in ms; it doubles up to `maxDelayMs`. */
  minDelayMs?: number;
  maxDelayMs?: number;
}

/** An op that the server has not answered yet. */
interface IPendingOp {
  readonly message: SubmitOp;
  readonly reply: PromiseDelegate<string>;
}

/**
 * The page's one WebSocket to the server.
 *
 * It is opened by `connect`, and then kept open: a lost connection is made anew, with growing
 * delays, for as long as the page lives. After that everything goes on where it was: the editor
 * state, the subscriptions (no event is lost or doubled), the ops and the answers that the server
 * may have missed.
 */
export class PageConnection implements IPageConnection, IDisposable {
  constructor(options: IPageConnectionOptions = {}) {
    this._settings = options.settings ?? ServerConnection.makeSettings();
    this._minDelayMs = options.minDelayMs ?? 500;
    this._maxDelayMs = options.maxDelayMs ?? 15_000;
    this.clientId = options.clientId ?? claimClientId();
    this._requests = new PageRequestHandler(text => this._sendText(text));
    this._subscriptions = new Subscriptions(message => this._send(message));
  }

  readonly clientId: string;

  get status(): ConnectionStatus {
    return this._status;
  }

  get statusChanged(): ISignal<this, ConnectionStatus> {
    return this._statusChanged;
  }

  get connected(): ISignal<this, void> {
    return this._connected;
  }

  get reconnecting(): ISignal<this, IReconnecting> {
    return this._reconnecting;
  }

  get rejected(): ISignal<this, ErrorBody> {
    return this._rejected;
  }

  get touched(): ISignal<this, DocumentTouched> {
    return this._touched;
  }

  get fileWritten(): ISignal<this, FileWritten> {
    return this._fileWritten;
  }

  get fileRenamed(): ISignal<this, FileRenamed> {
    return this._fileRenamed;
  }

  get renamesKnownUntil(): number | undefined {
    return this._renamesKnownUntil;
  }

  get waiting(): readonly WaitingSession[] {
    return this._waiting;
  }

  get modelsChanged(): ISignal<this, void> {
    return this._modelsChanged;
  }

  get waitingChanged(): ISignal<this, void> {
    return this._waitingChanged;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.clearTimeout(this._timer);
    window.clearTimeout(this._givenUp);
    this._requests.abandon();
    window.removeEventListener('online', this._onOnline);
    this._dropSocket();
    this._failOps(new ApiError('unreachable', 'The connection was closed.'));
    Signal.clearData(this);
  }

  /** Open the connection, if that has not been done; a pending attempt is made at once. */
  connect(): void {
    if (this._isDisposed || this._socket) {
      return;
    }
    if (this._status === 'idle') {
      this._setStatus('connecting');
      window.addEventListener('online', this._onOnline);
    }
    this._open();
  }

  /**
   * Put an op on a session's queue and return its op id.
   *
   * Rejects with an `ApiError`: the server's refusal, or `unreachable` at once while there is no
   * connection. An op that was sent when the connection broke is sent again with the same `ref`.
   */
  submit(sessionId: string, op: Op): Promise<string> {
    this.connect();
    if (this._status === 'reconnecting') {
      return Promise.reject(
        new ApiError('unreachable', 'Not connected to the server.')
      );
    }
    const ref = UUID.uuid4();
    const message: SubmitOp = { type: 'submit_op', ref, sessionId, op };
    if (isTooLarge(JSON.stringify(message), this._requests.maxBytes)) {
      return Promise.reject(
        new ApiError('too_large', 'The message is too large.')
      );
    }
    const reply = new PromiseDelegate<string>();
    this._ops.set(ref, { message, reply });
    this._send(message);
    return reply.promise;
  }

  /** Call `handler` once with each of the session's events with a `seq` over `after`. */
  subscribe(
    sessionId: string,
    after: number,
    handler: EventHandler
  ): IDisposable {
    this.connect();
    return this._subscriptions.add(sessionId, after, handler);
  }

  /** Set the one handler of the server's requests to this page. */
  onRequest(handler: RequestHandler): IDisposable {
    if (this._requests.handler) {
      throw new Error('The requests of the server have a handler already.');
    }
    this._requests.handler = handler;
    return new DisposableDelegate(() => {
      if (this._requests.handler === handler) {
        this._requests.handler = null;
      }
    });
  }

  /** Report to the server the editor state, now and after each reconnect. */
  sendEditorState(state: EditorState): void {
    this._editorState = state;
    this._send(this._dated(state));
  }

  /** The user turned to the input: the server may load the model library. */
  inputFocused(): void {
    this._wasFocused = true;
    this.connect();
    this._send({ type: 'input_focused' });
  }

  /** The panel is on the page: the server may load the model library when it has nothing to do. */
  panelShown(): void {
    this._wasShown = true;
    this.connect();
    this._send({ type: 'panel_shown' });
  }

  private _open(): void {
    window.clearTimeout(this._timer);
    const { wsUrl, token, appendToken, WebSocket } = this._settings;
    let url = URLExt.join(wsUrl, BASE_PATH, 'page');
    if (appendToken && token) {
      url += `?token=${encodeURIComponent(token)}`;
    }
    const socket = new WebSocket(url);
    this._socket = socket;
    socket.onopen = () => this._onOpen();
    socket.onmessage = (event: MessageEvent<string>) =>
      this._onMessage(JSON.parse(event.data) as ServerMessage);
    socket.onclose = (event: CloseEvent) => this._onClose(event);
  }

  /** Everything that the server must know comes with the connection, in this order. */
  private _onOpen(): void {
    this._send({
      type: 'hello',
      key: PAGE_KEY,
      clientId: this.clientId,
      pendingRequestIds: this._requests.pending,
      renamesKnownUntil: this._renamesKnownUntil
    });
    if (this._editorState) {
      this._send(this._dated(this._editorState));
    }
    if (this._wasShown) {
      this._send({ type: 'panel_shown' });
    }
    if (this._wasFocused) {
      this._send({ type: 'input_focused' });
    }
    this._subscriptions.resend();
    this._requests.resend();
    for (const { message } of this._ops.values()) {
      this._send({ ...message, again: true });
    }
  }

  private _onMessage(message: ServerMessage): void {
    switch (message.type) {
      case 'welcome':
        this._attempt = 0;
        window.clearTimeout(this._givenUp);
        this._givenUp = undefined;
        this._returnMs = message.returnMs;
        this._requests.abandon(message.awaitedRequestIds);
        this._requests.maxBytes = message.maxMessageBytes;
        this._renamesKnownUntil = message.renamesKnownUntil;
        this._setStatus('connected');
        this._connected.emit();
        break;
      case 'event':
        this._subscriptions.deliver(message);
        break;
      case 'document_touched':
        this._touched.emit(message);
        break;
      case 'file_written':
        this._fileWritten.emit(message);
        break;
      case 'file_renamed':
        // One of another server comes with its time, which may be an earlier one.
        this._renamesKnownUntil = Math.max(
          this._renamesKnownUntil ?? 0,
          message.renamesKnownUntil
        );
        this._fileRenamed.emit(message);
        break;
      case 'sessions_waiting':
        this._waiting = message.sessions;
        this._waitingChanged.emit();
        break;
      case 'models_changed':
        this._modelsChanged.emit();
        break;
      case 'op_accepted':
        this._ops.get(message.ref)?.reply.resolve(message.opId);
        this._ops.delete(message.ref);
        break;
      case 'op_rejected':
        this._onRejected(message);
        break;
      case 'request':
        void this._requests.accept(message);
        break;
      default:
        message satisfies never;
    }
  }

  private _onRejected({ ref, error }: OpRejectedMessage): void {
    const op = ref === undefined ? undefined : this._ops.get(ref);
    if (ref === undefined || !op) {
      console.error(`datalayer-agent: ${error.code}: ${error.message}`);
      this._rejected.emit(error);
      return;
    }
    this._ops.delete(ref);
    op.reply.reject(ApiError.from(error));
  }

  private _onClose(event: CloseEvent): void {
    const MESSAGE_TOO_BIG = 1009;
    if (event.code === MESSAGE_TOO_BIG) {
      this._requests.dropLarge();
      this._failOps(new ApiError('too_large', 'The message is too large.'));
    }
    if (this._status !== 'connected' && this._attempt === 0) {
      // The server was never reached: what waits for it is notified.
      this._failOps(
        new ApiError('unreachable', 'Not connected to the server.')
      );
    }
    this._dropSocket();
    this._givenUp ??= window.setTimeout(
      () => this._requests.abandon(),
      this._returnMs
    );
    this._attempt += 1;
    const delayMs = this._delay(this._attempt);
    this._setStatus('reconnecting');
    this._reconnecting.emit({ attempt: this._attempt, delayMs });
    this._timer = window.setTimeout(() => this._open(), delayMs);
  }

  /** Doubling delays, between a half and the whole of each: pages must not come all at once. */
  private _delay(attempt: number): number {
    const delay = Math.min(
      this._minDelayMs * 2 ** (attempt - 1),
      this._maxDelayMs
    );
    return delay * (0.5 + Math.random() / 2);
  }

  private _dropSocket(): void {
    const socket = this._socket;
    this._socket = null;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  private _failOps(error: ApiError): void {
    const ops = [...this._ops.values()];
    this._ops.clear();
    ops.forEach(({ reply }) => reply.reject(error));
  }

  private _send(message: ClientMessage): void {
    this._sendText(JSON.stringify(message));
  }

  /** What cannot be sent now is sent by `_onOpen`. */
  private _sendText(text: string): void {
    if (this._socket?.readyState === WebSocket.OPEN) {
      this._socket.send(text);
    }
  }

  /** The editor state, with the time that says which paths are meant. */
  private _dated(state: EditorState): EditorState {
    return { ...state, renamesKnownUntil: this._renamesKnownUntil ?? 0 };
  }

  private _setStatus(status: ConnectionStatus): void {
    if (status !== this._status) {
      this._status = status;
      this._statusChanged.emit(status);
    }
  }

  private readonly _onOnline = (): void => this.connect();

  private readonly _settings: ServerConnection.ISettings;
  private readonly _minDelayMs: number;
  private readonly _maxDelayMs: number;
  private readonly _requests: PageRequestHandler;
  private readonly _subscriptions: Subscriptions;
  private readonly _ops = new Map<string, IPendingOp>();
  private _socket: WebSocket | null = null;
  private _status: ConnectionStatus = 'idle';
  private _attempt = 0;
  private _timer: number | undefined;
  /** How long a server waits for a page that has lost its connection, in ms. */
  private _returnMs = 0;
  private _givenUp: number | undefined;
  private _editorState: EditorState | null = null;
  private _wasFocused = false;
  private _wasShown = false;
  private _isDisposed = false;
  private readonly _statusChanged = new Signal<this, ConnectionStatus>(this);
  private readonly _connected = new Signal<this, void>(this);
  private readonly _reconnecting = new Signal<this, IReconnecting>(this);
  private readonly _rejected = new Signal<this, ErrorBody>(this);
  private _waiting: readonly WaitingSession[] = [];
  private readonly _waitingChanged = new Signal<this, void>(this);
  private readonly _modelsChanged = new Signal<this, void>(this);
  private readonly _touched = new Signal<this, DocumentTouched>(this);
  private _renamesKnownUntil: number | undefined;
  private readonly _fileRenamed = new Signal<this, FileRenamed>(this);
  private readonly _fileWritten = new Signal<this, FileWritten>(this);
}
