import { PageConfig } from '@jupyterlab/coreutils';

import { messageOf } from '../../api/errors';
import { IPanelClient } from '../../api/services';
import {
  McpFolderFile,
  McpServerDefinition,
  McpServerInfo,
  McpServerPatch,
  McpServersReply,
  McpSignInReply,
  McpTestReply,
  McpTestRequest
} from '../../api/types';
import { Observable } from '../../session/observable';

const POLL_MS = 2000;

/** What the panel knows of MCP servers. It holds no values of environments or headers. */
export interface IMcpShown {
  reply: McpServersReply | null;
  problem?: string;
  /** The server whose log is open, with its lines. */
  log?: { name: string; lines: readonly string[] };
  /** The server that is being changed, started or ended. */
  busy?: string;
}

/** MCP servers: which there are, what they may do. */
export class McpController {
  constructor(private readonly _client: IPanelClient['mcp']) {}

  readonly shown = new Observable<IMcpShown>({ reply: null });

  /** Ask for the servers, and go on while one of them is starting. */
  refresh(): Promise<boolean> {
    return this._take(undefined, this._client.list());
  }

  /** Try a server without saving it. */
  async test(request: McpTestRequest): Promise<McpTestReply> {
    try {
      return await this._client.test(request);
    } catch (error) {
      return { ok: false, message: messageOf(error), tools: [] };
    }
  }

  /** Save a server; a problem in a sentence, or null. */
  async save(
    name: string,
    definition: McpServerDefinition
  ): Promise<string | null> {
    try {
      this._patch({
        reply: await this._client.save(name, definition)
      });
      this._poll();
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  change(name: string, patch: McpServerPatch): Promise<boolean> {
    return this._take(name, this._client.change(name, patch));
  }

  remove(name: string): Promise<boolean> {
    return this._take(name, this._client.remove(name));
  }

  run(name: string, act: 'start' | 'stop'): Promise<boolean> {
    return this._take(name, this._client.run(name, act));
  }

  /** Ask where to sign in to a server, or null with the problem shown. */
  async signIn(
    name: string,
    keepInFile: boolean,
    clientSecret?: string
  ): Promise<McpSignInReply | null> {
    this._patch({ busy: name });
    try {
      const { origin } = new URL(PageConfig.getBaseUrl());
      const reply = await this._client.signIn(name, {
        origin,
        keepInFile,
        ...(clientSecret && { clientSecret })
      });
      await this.refresh();
      return reply;
    } catch (error) {
      this._patch({ problem: messageOf(error) });
      return null;
    } finally {
      this._patch({ busy: undefined });
    }
  }

  /** Forget a sign-in, or one that waits. */
  signOut(name: string): Promise<boolean> {
    return this._take(name, this._client.signOut(name));
  }

  /** Allow the file of the server root as it is shown, or not any more. */
  decideOnFolder(
    { contentHash }: McpFolderFile,
    allowed: boolean
  ): Promise<boolean> {
    return this._take(
      undefined,
      this._client.decideOnFolder({ contentHash, allowed })
    );
  }

  /** Open the log of a server, or close it. */
  async showLog(name: string, isOpen: boolean): Promise<void> {
    if (!isOpen) {
      this._patch({ log: undefined });
      return;
    }
    try {
      const { lines } = await this._client.log(name);
      this._patch({ log: { name, lines } });
    } catch (error) {
      this._patch({ problem: messageOf(error) });
    }
  }

  private async _take(
    busy: string | undefined,
    request: Promise<McpServersReply>
  ): Promise<boolean> {
    this._patch({ busy });
    try {
      this._patch({ reply: await request, problem: undefined });
      this._poll();
      return true;
    } catch (error) {
      this._patch({ problem: messageOf(error) });
      return false;
    } finally {
      this._patch({ busy: undefined });
    }
  }

  private _poll(): void {
    const { reply } = this.shown.current;
    const isMoving = ({ state, signIn }: McpServerInfo) =>
      state === 'starting' || signIn === 'waiting';
    if (reply?.servers.some(isMoving)) {
      clearTimeout(this._timer);
      this._timer = setTimeout(() => void this.refresh(), POLL_MS);
    }
  }

  private _patch(changes: Partial<IMcpShown>): void {
    this.shown.set({ ...this.shown.current, ...changes });
  }

  private _timer: ReturnType<typeof setTimeout> | undefined;
}
