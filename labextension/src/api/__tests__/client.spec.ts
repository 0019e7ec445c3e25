/**
 * @jest-environment-options {"customExportConditions": ["node", "node-addons"]}
 */
import { IncomingMessage, ServerResponse } from 'http';

import { AgentClient, ApiError } from '..';
import { TestServer } from './support';

interface ICall {
  method?: string;
  url: URL;
  authorization?: string;
  body: string;
}

class HttpServer extends TestServer {
  readonly calls: ICall[] = [];
  status = 200;
  body = '{}';

  protected onRequest(
    request: IncomingMessage,
    response: ServerResponse
  ): void {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://host');
      // JupyterLab's own cache buster.
      for (const key of [...url.searchParams.keys()]) {
        if (/^\d+$/.test(key)) {
          url.searchParams.delete(key);
        }
      }
      this.calls.push({
        method: request.method,
        url,
        authorization: request.headers.authorization,
        body: Buffer.concat(chunks).toString()
      });
      response.writeHead(this.status).end(this.body);
    });
  }
}

describe('AgentClient', () => {
  let server: HttpServer;
  let client: AgentClient;

  beforeEach(async () => {
    server = new HttpServer();
    client = new AgentClient(await server.start());
  });

  afterEach(() => server.stop());

  it('asks with the query that it was given and nothing more, and the token', async () => {
    server.body = '{"sessions": []}';
    const reply = await client.listSessions({ query: 'a b&c', limit: 5 });
    expect(reply).toEqual({ sessions: [] });
    const [{ method, url, authorization }] = server.calls;
    expect(method).toBe('GET');
    expect(url.pathname).toBe('/datalayer-agent/sessions');
    expect([...url.searchParams]).toEqual([
      ['query', 'a b&c'],
      ['limit', '5']
    ]);
    expect(authorization).toBe('token secret');
  });

  it('sends a body as JSON to a path whose parts are escaped', async () => {
    await client.callTool('a/b', { arguments: { x: 1 }, path: 'ä.ipynb' });
    const [{ method, url, body }] = server.calls;
    expect(method).toBe('POST');
    expect(url.pathname).toBe('/datalayer-agent/tools/a%2Fb');
    expect(JSON.parse(body)).toEqual({ arguments: { x: 1 }, path: 'ä.ipynb' });
  });

  it('takes an empty answer', async () => {
    server.status = 204;
    server.body = '';
    await expect(client.deleteSession('s')).resolves.toBeUndefined();
  });

  it('throws the error of the server with its code and message', async () => {
    server.status = 409;
    server.body = JSON.stringify({
      error: { code: 'turn_in_progress', message: 'A turn runs.', detail: 1 }
    });
    const error = await client.forkSession('s').catch(e => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'turn_in_progress',
      message: 'A turn runs.',
      detail: 1,
      status: 409
    });
  });

  it('makes an error of an answer that is not its server’s', async () => {
    server.status = 404;
    server.body = '<html>';
    await expect(client.models()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('says that the server cannot be reached', async () => {
    await server.stop();
    await expect(client.models()).rejects.toMatchObject({
      code: 'unreachable'
    });
    server = new HttpServer();
    await server.start();
  });
});
