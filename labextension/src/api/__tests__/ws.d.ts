/** What the tests use of `ws`, which comes without types. */
declare module 'ws' {
  import { IncomingMessage, Server } from 'http';

  export class WebSocket {
    on(event: 'message', listener: (data: Buffer) => void): this;
    send(data: string): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
  }

  export class WebSocketServer {
    constructor(options: { server: Server });
    on(
      event: 'connection',
      listener: (socket: WebSocket, request: IncomingMessage) => void
    ): this;
  }
}
