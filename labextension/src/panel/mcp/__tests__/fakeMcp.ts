import {
  McpServersReply,
  McpSignInReply,
  McpSignInRequest,
  McpTestReply
} from '../../../api/types';

/** No servers. */
export const NO_SERVERS: McpServersReply = {
  servers: [],
  problems: [],
  userFile: '/home/me/.jupyter/mcp.json',
  isSearched: false
};

/** The routes of MCP servers, which answer what a test sets, and keep what they were asked. */
export class FakeMcp {
  reply: McpServersReply = NO_SERVERS;
  testReply: McpTestReply = { ok: true, message: 'Works: 2 tools', tools: [] };
  signInReply: McpSignInReply = {};
  readonly asked: unknown[] = [];

  list = () => this._answer({ list: true });
  test = async (body: unknown) => {
    this.asked.push({ test: body });
    return this.testReply;
  };
  save = (name: string, body: unknown) => this._answer({ save: name, body });
  change = (name: string, body: unknown) =>
    this._answer({ change: name, body });
  remove = (name: string) => this._answer({ remove: name });
  run = (name: string, act: string) => this._answer({ [act]: name });
  signIn = async (name: string, body: McpSignInRequest) => {
    this.asked.push({ signIn: name, body });
    return this.signInReply;
  };
  signOut = (name: string) => this._answer({ signOut: name });
  log = async (name: string) => {
    this.asked.push({ log: name });
    return { lines: ['12:00:00 Connected'] };
  };
  decideOnFolder = (body: unknown) => this._answer({ folder: body });

  private async _answer(asked: unknown): Promise<McpServersReply> {
    this.asked.push(asked);
    return this.reply;
  }
}
