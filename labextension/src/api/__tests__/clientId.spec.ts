import { claimClientId } from '../clientId';

describe('claimClientId', () => {
  /** A page of a tab: its id, and what it leaves in the tab's storage when it is unloaded. */
  function load(storage: Storage) {
    const target = new EventTarget();
    const id = claimClientId(storage, target);
    return {
      id,
      unload: () => target.dispatchEvent(new window.Event('pagehide'))
    };
  }

  beforeEach(() => window.sessionStorage.clear());

  it('is the same after a reload', () => {
    const page = load(window.sessionStorage);
    page.unload();
    expect(load(window.sessionStorage).id).toBe(page.id);
  });

  it('is another in a duplicated tab, which starts with a copy of the storage', () => {
    const page = load(window.sessionStorage);
    // The copy is made while the first page lives.
    expect(load(window.sessionStorage).id).not.toBe(page.id);
  });
});
