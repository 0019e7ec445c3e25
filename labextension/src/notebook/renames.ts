import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import { PathExt } from '@jupyterlab/coreutils';
import { Signal } from '@lumino/signaling';

import type { FileRenamed } from '../api';
import { pathAfter } from '../api/renames';
import type { Documents } from './documents';

type Context = DocumentRegistry.Context;

/**
 * Lets the open documents of this page follow a rename, whoever made it.
 *
 * JupyterLab follows only what is renamed in the same page: in another one, the document keeps its old
 * path, and its next save would bring the old file back. It listens to one signal, which is emitted
 * here for each document that has not followed. A folder's name with a parenthesis or another
 * character of a regular expression is not followed by JupyterLab even in the page that renamed it.
 */
export function followRename(
  { oldPath, path }: FileRenamed,
  documents: Pick<Documents, 'contexts' | 'pathOf'>,
  contents: Contents.IManager
): void {
  const { fileChanged } = contents;
  if (!(fileChanged instanceof Signal)) {
    return;
  }
  for (const context of documents.contexts()) {
    const known = documents.pathOf(context);
    const now = known === null ? null : pathAfter(known, { oldPath, path });
    // Shared documents have a drive of their own, which renames them.
    if (known === null || now === null || now === known || isShared(context)) {
      continue;
    }
    const name = PathExt.basename(now);
    fileChanged.emit({
      type: 'rename',
      oldValue: { path: context.path },
      newValue: { ...context.contentsModel, name, path: now }
    });
  }

  function isShared(context: Context): boolean {
    return contents.driveName(context.path) !== '';
  }
}

/**
 * Let the server refuse what this page saves under an old name, before it knows of the new one: after a
 * time without a connection, or while the save is on its way. JupyterLab would make the old file again.
 */
export function dateSaves(
  contents: Contents.IManager,
  knownUntil: () => number | undefined
): void {
  const save = contents.save.bind(contents);
  contents.save = (path, options) => {
    const isDated =
      contents.driveName(path) === '' && knownUntil() !== undefined;
    const dated = { ...options, renamesKnownUntil: knownUntil() };
    return save(path, isDated ? dated : options);
  };
}
