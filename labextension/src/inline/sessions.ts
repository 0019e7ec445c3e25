import { PathExt } from '@jupyterlab/coreutils';

import { AgentClient } from '../api/client';
import { ApiError } from '../api/errors';
import { IMemory } from '../panel/services';
import { Decided } from '../proposals/decided';

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
    /** Where the page remembers the session of a document. */
    private readonly _memory: (path: string) => IMemory
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

  /** The session is gone: the next message makes another one. */
  forget(path: string): void {
    this._sessions.delete(path);
    this._memory(path).save(null);
  }

  private async _find(path: string): Promise<IInlineSession> {
    const known = await this._memory(path).load();
    if (known) {
      try {
        const { id, lastSeq } = await this._client.getSession(known);
        return { id, lastSeq };
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'not_found')) {
          throw error;
        }
      }
    }
    const { id, lastSeq } = await this._client.createSession({
      title: `Inline chat in ${PathExt.basename(path)}`,
      settings: { mode: 'edit' }
    });
    this._memory(path).save(id);
    return { id, lastSeq };
  }

  private readonly _sessions = new Map<string, Promise<IInlineSession>>();
}
