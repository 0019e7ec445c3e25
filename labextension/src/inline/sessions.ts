import { PathExt } from '@jupyterlab/coreutils';

import { AgentClient } from '../api/client';
import { ApiError } from '../api/errors';
import { IMemory } from '../ui/memory';
import { Decided } from '../proposals/proposalDecisions';
import { OpenChats, openChatsKey } from './openChats';

/** A session, and up to where it is known. */
export interface IInlineSession {
  id: string;
  lastSeq: number;
}

/**
 * The sessions of inline chats, one for each document: so that a conversation about a notebook is
 * one in the list of sessions, under a title that names it.
 */
export class InlineSessions {
  constructor(
    private readonly _client: Pick<AgentClient, 'createSession' | 'getSession'>,
    /** Where the page remembers something under a key. */
    private readonly _memory: (key: string) => IMemory
  ) {}

  /** What became of their proposals, by the path of the document. */
  readonly decided = new Decided();

  /** The session of a document, made if there is none yet. */
  of(path: string): Promise<IInlineSession> {
    let session = this._sessions.get(path);
    if (!session) {
      session = this._find(path);
      this._sessions.set(path, session);
      session.catch(() => this._sessions.delete(path));
    }
    return session;
  }

  /** The chats of a document that were not closed. */
  openChats(path: string): OpenChats {
    const chats =
      this._open.get(path) ?? new OpenChats(this._memory(openChatsKey(path)));
    this._open.set(path, chats);
    return chats;
  }

  /** The document was renamed: what is about it goes with it. Each of its views may report it. */
  async moved(from: string, to: string): Promise<void> {
    const session = this._sessions.get(from);
    if (session) {
      this._sessions.delete(from);
      this._sessions.set(to, session);
    }
    const open = this._open.get(from);
    if (open) {
      this._open.delete(from);
      this._open.set(to, open);
      open.moveTo(this._memory(openChatsKey(to)));
    }
    this.decided.moved(from, to);
    const id = this._memory(sessionKey(from));
    const known = await id.load();
    if (known) {
      id.save(null);
      this._memory(sessionKey(to)).save(known);
    }
  }

  /** Whether a session of the document's is still there. */
  async has(path: string, sessionId: string): Promise<boolean> {
    return (await this._known(path))?.id === sessionId;
  }

  /** The session is gone: the next message makes another one. */
  forget(path: string): void {
    this._sessions.delete(path);
    this._memory(sessionKey(path)).save(null);
  }

  private async _known(path: string): Promise<IInlineSession | null> {
    const known = await this._memory(sessionKey(path)).load();
    if (!known) {
      return null;
    }
    try {
      const { id, lastSeq } = await this._client.getSession(known);
      return { id, lastSeq };
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') {
        return null;
      }
      throw error;
    }
  }

  private async _find(path: string): Promise<IInlineSession> {
    const known = await this._known(path);
    if (known) {
      return known;
    }
    const { id, lastSeq } = await this._client.createSession({
      title: `Inline chat in ${PathExt.basename(path)}`,
      settings: { mode: 'edit' }
    });
    this._memory(sessionKey(path)).save(id);
    return { id, lastSeq };
  }

  private readonly _sessions = new Map<string, Promise<IInlineSession>>();
  private readonly _open = new Map<string, OpenChats>();
}

function sessionKey(path: string): string {
  return `datalayer-agent:inline:${path}`;
}
