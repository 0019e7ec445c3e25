import { LabServer } from './server';

interface IResult {
  content: { type: string; text: string }[];
  isError: boolean;
}

interface IMessage {
  id?: number;
  result?: IResult;
  error?: { message: string };
}

/** Another program that uses the server's tools over MCP, in the plainest way. */
export class McpClient {
  private constructor(
    private readonly _server: LabServer,
    private readonly _session: string
  ) {}

  /** A session of a program of this name, which cannot ask its user anything. */
  static async begin(server: LabServer, name: string): Promise<McpClient> {
    const begun = await post(server, null, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name, version: '1.0' }
    });
    await begun.text();
    const client = new McpClient(
      server,
      begun.headers.get('Mcp-Session-Id') ?? ''
    );
    await client._send('notifications/initialized', undefined, null);
    return client;
  }

  /** The result of a tool, parsed; a failure is thrown. */
  async call<T>(name: string, args: Record<string, unknown>): Promise<T> {
    const response = await this._send('tools/call', { name, arguments: args });
    const messages = (await response.text())
      .split('\n')
      .filter(line => line.startsWith('data: {'))
      .map(line => JSON.parse(line.slice(6)) as IMessage);
    const answer = messages.find(({ id }) => id !== undefined);
    const text = answer?.result?.content[0].text ?? '';
    if (!answer?.result || answer.result.isError) {
      throw new Error(`${name}: ${answer?.error?.message ?? text}`);
    }
    return JSON.parse(text) as T;
  }

  private _send(
    method: string,
    params?: unknown,
    id: number | null = ++this._last
  ): Promise<Response> {
    return post(this._server, this._session, method, params, id);
  }

  private _last = 0;
}

function post(
  { about }: LabServer,
  session: string | null,
  method: string,
  params?: unknown,
  id: number | null = 0
): Promise<Response> {
  return fetch(`${about.url}datalayer-agent/mcp`, {
    method: 'POST',
    headers: {
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${about.token}`,
      'Content-Type': 'application/json',
      ...(session ? { 'Mcp-Session-Id': session } : {})
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      method,
      params,
      ...(id === null ? {} : { id })
    })
  });
}
