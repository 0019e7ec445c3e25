import { IRename, pathAfter } from '../api/renames';
import type { Attachment, Change, SessionSettings } from '../api/types';
import type { Entry, ITurn } from './turn';

/** Attachments with the paths that hold after a rename; the same array where nothing changes. */
export function attachmentsAfter(
  attachments: readonly Attachment[],
  rename: IRename
): readonly Attachment[] {
  return all(attachments, rename);
}

/** What a session remembers, after a rename. */
export function settingsAfter(
  settings: SessionSettings,
  rename: IRename
): SessionSettings {
  const { notebook, attachments } = settings;
  return {
    ...settings,
    ...(notebook && { notebook: pathAfter(notebook, rename) }),
    ...(attachments && { attachments: [...all(attachments, rename)] })
  };
}

/** A turn whose documents have the paths that hold after a rename; the same one if none changes. */
export function turnAfter(turn: ITurn, rename: IRename): ITurn {
  const changes = all(turn.changes, rename);
  const conflicts = all(turn.conflicts, rename);
  const offers = all(turn.offers, rename);
  const entries = same(turn.entries, entry => entryAfter(entry, rename));
  const target = turn.target && pathAfter(turn.target, rename);
  const files = [...turn.decided.files];
  const decidedFiles = same(files, file => pathAfter(file, rename));
  const isSame =
    changes === turn.changes &&
    conflicts === turn.conflicts &&
    offers === turn.offers &&
    entries === turn.entries &&
    target === turn.target &&
    decidedFiles === files;
  return isSame
    ? turn
    : {
        ...turn,
        changes,
        conflicts,
        offers,
        entries,
        target,
        decided: { ...turn.decided, files: new Set(decidedFiles) }
      };
}

function entryAfter(entry: Entry, rename: IRename): Entry {
  switch (entry.kind) {
    case 'tool':
    case 'approval':
    case 'undone': {
      const changes: readonly Change[] = all(entry.changes, rename);
      return changes === entry.changes ? entry : { ...entry, changes };
    }
    case 'action': {
      const paths = same(entry.paths, path => pathAfter(path, rename));
      return paths === entry.paths ? entry : { ...entry, paths };
    }
    default:
      return entry;
  }
}

function all<T extends { path?: string }>(
  items: readonly T[],
  rename: IRename
): readonly T[] {
  return same(items, item => {
    const path = item.path && pathAfter(item.path, rename);
    return path === item.path ? item : { ...item, path };
  });
}

/** The items after a change of each; the same array where none changed. */
function same<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = items.map(change);
  return changed.some((item, index) => item !== items[index]) ? changed : items;
}
