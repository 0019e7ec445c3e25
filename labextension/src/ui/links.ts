import { PathExt } from '@jupyterlab/coreutils';

/** A scheme (`javascript:`), a drive (`C:`), another host (`//host`) or a path from the top. */
const NOT_RELATIVE = /^([a-z][a-z0-9+.-]*:|[\\/])/i;

/** What no path of a document holds: control characters, and what Windows separates by. */
// eslint-disable-next-line no-control-regex
const STRANGE = /[\u0000-\u001f\u007f\\]/;

/** The relative path that a link in an answer leads to; null where it leads anywhere else. */
export function relativePath(address: string): string | null {
  const text = address.trim();
  if (!text || NOT_RELATIVE.test(text)) {
    return null;
  }
  let path: string;
  try {
    path = decodeURIComponent(text.replace(/[?#].*$/, ''));
  } catch {
    return null; // Broken percent signs.
  }
  return !path || NOT_RELATIVE.test(path) || STRANGE.test(path) ? null : path;
}

/**
 * The paths under the server's root that a relative path may mean: seen from the notebook, and from
 * the root. None leads out of the root.
 */
export function pathsUnderRoot(
  path: string,
  notebook: string | null
): string[] {
  const folders = notebook ? [PathExt.dirname(notebook), ''] : [''];
  const paths = folders.map(folder => within(folder, path));
  return [...new Set(paths.filter((each): each is string => !!each))];
}

function within(folder: string, path: string): string | null {
  const parts = folder ? folder.split('/') : [];
  for (const part of path.split('/')) {
    if (part === '..') {
      if (!parts.pop()) {
        return null;
      }
    } else if (part && part !== '.') {
      parts.push(part);
    }
  }
  return parts.join('/');
}
