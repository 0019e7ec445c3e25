import {
  FolderFileDecision,
  McpLogReply,
  McpServerDefinition,
  McpServerPatch,
  McpServersReply,
  McpSignInReply,
  McpSignInRequest,
  McpTestReply,
  McpTestRequest
} from './types';

/** Sends a request to the server. */
export type Send = <T>(
  method: string,
  segments: string[],
  options?: { body?: object }
) => Promise<T>;

/** The routes of MCP servers, whose tools the agent uses. */
export class McpClient {
  constructor(private readonly _send: Send) {}

  /** The servers and their tools; nothing is started. */
  list(): Promise<McpServersReply> {
    return this._send('GET', ['mcp-servers']);
  }

  /** Start a server, list its tools and end it; nothing is saved. */
  test(body: McpTestRequest): Promise<McpTestReply> {
    return this._send('POST', ['mcp-servers'], { body });
  }

  /** Add or replace a server, and start it. */
  save(name: string, body: McpServerDefinition): Promise<McpServersReply> {
    return this._send('PUT', ['mcp-servers', name], { body });
  }

  /** Switch a server or its tools on or off, or trust them. */
  change(name: string, body: McpServerPatch): Promise<McpServersReply> {
    return this._send('PATCH', ['mcp-servers', name], { body });
  }

  remove(name: string): Promise<McpServersReply> {
    return this._send('DELETE', ['mcp-servers', name]);
  }

  /** Start a server, again if it runs, or end it. */
  run(name: string, act: 'start' | 'stop'): Promise<McpServersReply> {
    return this._send('POST', ['mcp-servers', name, act]);
  }

  /** Where the user signs in to a server. */
  signIn(name: string, body: McpSignInRequest): Promise<McpSignInReply> {
    return this._send('POST', ['mcp-servers', name, 'sign-in'], { body });
  }

  /** Forget the tokens of a server, or a sign-in that waits. */
  signOut(name: string): Promise<McpServersReply> {
    return this._send('DELETE', ['mcp-servers', name, 'sign-in']);
  }

  /** The newest lines of a server's log. */
  log(name: string): Promise<McpLogReply> {
    return this._send('GET', ['mcp-servers', name, 'log']);
  }

  /** Allow the `mcp.json` of the server root as it was shown, or not any more. */
  decideOnFolder(body: FolderFileDecision): Promise<McpServersReply> {
    return this._send('PUT', ['mcp-folder-file'], { body });
  }
}
