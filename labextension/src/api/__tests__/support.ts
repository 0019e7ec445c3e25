import { createServer, IncomingMessage, Server, ServerResponse } from 'http';
import { AddressInfo } from 'net';

import { ServerConnection } from '@jupyterlab/services';
import { WebSocket as Socket, WebSocketServer } from 'ws';

import { ClientMessage, ServerMessage } from '..';

/** Resolves when `condition` holds; checked after each turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) {
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

/** A real server on a free port, and the settings that lead there. */
export abstract class TestServer {
  protected readonly http: Server = createServer((request, response) =>
    this.onRequest(request, response)
  );

  async start(): Promise<ServerConnection.ISettings> {
    if (!this.port) {
      await this.listen(0);
      this.port = (this.http.address() as AddressInfo).port;
    }
    return ServerConnection.makeSettings({
      baseUrl: `http://127.0.0.1:${this.port}/`,
      wsUrl: `ws://127.0.0.1:${this.port}/`,
      appendToken: true,
      token: 'secret',
      WebSocket
    });
  }

  protected listen(port: number): Promise<void> {
    return new Promise(resolve =>
      this.http.listen(port, '127.0.0.1', () => resolve())
    );
  }

  async stop(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise(resolve => this.http.close(resolve));
  }

  protected onRequest(_: IncomingMessage, response: ServerResponse): void {
    response.writeHead(404).end();
  }

  protected port = 0;
}

/** The server's end of `WS page`: it notes what comes and sends what a test says. */
export class PageServer extends TestServer {
  constructor() {
    super();
    this._sockets.on('connection', (socket, request) => {
      this.urls.push(request.url ?? '');
      this.sockets.push(socket);
      socket.on('message', data => {
        const message = JSON.parse(String(data)) as ClientMessage;
        this.received.push(message);
        this.onMessage(message);
      });
    });
  }

  readonly urls: string[] = [];
  readonly sockets: Socket[] = [];
  readonly received: ClientMessage[] = [];

  /** What the server says that it takes at once. */
  maxMessageBytes = 1_000_000;
  renamesKnownUntil = 0;
  /** The requests that the server says it waits for, and for how long without a connection. */
  awaitedRequestIds: string[] = [];
  returnMs = 15_000;

  /** Answers `hello`; a test may replace it. */
  onMessage = (message: ClientMessage): void => {
    if (message.type === 'hello') {
      const { clientId } = message;
      const { maxMessageBytes, renamesKnownUntil } = this;
      this.send({
        type: 'welcome',
        clientId,
        version: '0',
        maxMessageBytes,
        renamesKnownUntil,
        awaitedRequestIds: this.awaitedRequestIds,
        returnMs: this.returnMs
      });
    }
  };

  /** Send over the newest connection. */
  send(message: ServerMessage): void {
    this.sockets[this.sockets.length - 1].send(JSON.stringify(message));
  }

  /** The messages of a type that came so far. */
  of<T extends ClientMessage['type']>(
    type: T
  ): Extract<ClientMessage, { type: T }>[] {
    return this.received.filter(
      (message): message is Extract<ClientMessage, { type: T }> =>
        message.type === type
    );
  }

  /** Break all connections, as a network does. */
  breakConnections(): void {
    this.sockets.forEach(socket => socket.terminate());
  }

  /** Go away, and come back on the same port. */
  async goAway(): Promise<() => Promise<void>> {
    this.breakConnections();
    await new Promise(resolve => this.http.close(resolve));
    return () => this.listen(this.port);
  }

  async stop(): Promise<void> {
    this.breakConnections();
    await super.stop();
  }

  private readonly _sockets = new WebSocketServer({ server: this.http });
}
