import { UUID } from '@lumino/coreutils';

/** The header by which the server knows a client again: see `agent/asker.py`. */
export const CLIENT_HEADER = 'X-Datalayer-Agent-Client';

/**
 * The page's own secret, until it is loaded anew. The page names it over its WebSocket, and with its
 * HTTP requests: what only the user decides is taken from a page.
 */
export const PAGE_KEY = UUID.uuid4();

/** The header for a request to `url`; none for another origin, which would have to allow it. */
export function pageKeyHeader(url: string): Record<string, string> {
  const isOwn = new URL(url, window.location.href).origin === location.origin;
  return isOwn ? { [CLIENT_HEADER]: PAGE_KEY } : {};
}
