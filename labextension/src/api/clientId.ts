const KEY = 'datalayer-agent:client-id';

/**
 * The id of this browser tab: it outlives a reload, and a duplicated tab gets its own.
 *
 * A duplicated tab starts with a copy of the first one's session storage. So the id is in the
 * storage only between the unload of one page of the tab and the load of the next.
 */
export function claimClientId(
  storage: Storage = window.sessionStorage,
  target: EventTarget = window
): string {
  const id = storage.getItem(KEY) ?? newId();
  storage.removeItem(KEY);
  target.addEventListener('pagehide', () => storage.setItem(KEY, id));
  // The page may come back from the back-forward cache.
  target.addEventListener('pageshow', () => storage.removeItem(KEY));
  return id;
}

function newId(): string {
  // `crypto.randomUUID` needs a secure context, which plain HTTP is not.
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page_${Array.from(bytes, b => b.toString(16).padStart(2, '0')).join('')}`;
}
