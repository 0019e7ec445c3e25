import { IStateDB } from '@jupyterlab/statedb';

import { ISessionMemory } from './services';

const KEY = 'datalayer-agent:session';

/**
 * Which session the page shows: in the tab's storage, which is written at once and outlives a
 * reload, and in the workspace's, which outlives the tab.
 */
export class WorkspaceMemory implements ISessionMemory {
  constructor(
    private readonly _state: IStateDB | null,
    private readonly _tab: Storage = window.sessionStorage
  ) {}

  async load(): Promise<string | null> {
    const inTab = this._tab.getItem(KEY);
    if (inTab !== null) {
      return inTab || null;
    }
    const saved = await this._state?.fetch(KEY);
    return typeof saved === 'string' && saved ? saved : null;
  }

  save(sessionId: string | null): void {
    // An empty text says that the person began a new session, which is not to be forgotten.
    this._tab.setItem(KEY, sessionId ?? '');
    void this._state?.save(KEY, sessionId ?? '');
  }
}
