import { createServer, Server } from 'node:http';
import { AddressInfo } from 'node:net';

/** A server elsewhere, which hears what a page sends it: what would be lost to a stranger. */
export class ForeignServer {
  /** The requests so far: the address and what came with it. */
  readonly requests: string[] = [];

  static async start(): Promise<ForeignServer> {
    const foreign = new ForeignServer();
    await new Promise<void>(resolve =>
      foreign._server.listen(0, '127.0.0.1', resolve)
    );
    return foreign;
  }

  /** Its host, under a name that is not the one of the page. */
  get host(): string {
    return `127.0.0.1:${(this._server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  async stop(): Promise<void> {
    this._server.closeAllConnections();
    await new Promise(resolve => this._server.close(resolve));
  }

  private readonly _server: Server = createServer((request, response) => {
    this.requests.push(`${request.method} ${request.url}`);
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Content-Type', 'image/svg+xml');
    response.end(
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20" fill="teal"/></svg>'
    );
  });
}
