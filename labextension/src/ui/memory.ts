import { IStateDB } from '@jupyterlab/statedb';

/** Where the page remembers which session, or which tutorial, it shows; `null` forgets. */
export interface IMemory {
  load(): Promise<string | null>;
  save(value: string | null): void;
}

/** The keys under which the page remembers what it shows. */
export const SESSION_KEY = 'datalayer-agent:session';
export const TUTORIAL_KEY = 'datalayer-agent:tutorial';
export const COMPARE_KEY = 'datalayer-agent:compared-models';
export const STRATEGIST_KEY = 'datalayer-agent:strategist-model';

/**
 * Which session, or tutorial, the page shows: in the tab's storage, which is written at once and
 * outlives a reload, and in the workspace's, which outlives the tab.
 */
export class WorkspaceMemory implements IMemory {
  constructor(
    private readonly _state: IStateDB | null,
    private readonly _key = SESSION_KEY,
    private readonly _tab: Storage = window.sessionStorage
  ) {}

  async load(): Promise<string | null> {
    const inTab = this._tab.getItem(this._key);
    if (inTab !== null) {
      return inTab || null;
    }
    const saved = await this._state?.fetch(this._key);
    return typeof saved === 'string' && saved ? saved : null;
  }

  save(value: string | null): void {
    // An empty text says that the user closed it, or began anew, which is not to be forgotten.
    this._tab.setItem(this._key, value ?? '');
    void this._state?.save(this._key, value ?? '');
  }
}
