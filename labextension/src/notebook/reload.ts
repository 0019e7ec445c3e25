import { IDocumentWidget } from '@jupyterlab/docregistry';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Contents } from '@jupyterlab/services';

import { forEachLoadedNotebook } from './forEachNotebook';
import { UnsavedChanges } from './unsavedChanges';

/**
 * Keeps notebooks in step with their files, which the server writes itself where it does not know
 * that a page has them open: while that loads, or was away.
 */
export class NotebookReloader {
  constructor(
    tracker: INotebookTracker,
    private readonly _contents: Pick<Contents.IManager, 'get'>
  ) {
    forEachLoadedNotebook(tracker, ({ context }) => {
      if (!this._unsaved.has(context)) {
        this._unsaved.set(context, new UnsavedChanges(context.model));
      }
    });
  }

  /**
   * Compare a notebook with its file where that was not done yet. Once is enough: from the first
   * request on, the server's changes come through the page.
   */
  compared(panel: NotebookPanel): Promise<void> {
    return this._compared.get(panel.context) ?? this.compare(panel);
  }

  /** Compare a notebook with its file now; what else is done with it waits for that. */
  compare(panel: NotebookPanel): Promise<void> {
    const { context } = panel;
    const before = this._compared.get(context) ?? Promise.resolve();
    const isClean = () =>
      !(this._unsaved.get(context)?.exist ?? context.model.dirty);
    const compared = before.then(() =>
      reloadIfNewer(panel, this._contents, isClean)
    );
    this._compared.set(context, compared);
    return compared;
  }

  private readonly _compared = new WeakMap<
    NotebookPanel['context'],
    Promise<void>
  >();
  private readonly _unsaved = new WeakMap<
    NotebookPanel['context'],
    UnsavedChanges
  >();
}

/**
 * Load a document anew whose file was written after it was loaded, unless something was changed in
 * the page since.
 *
 * While a page loads, the server does not know that it has the notebook, and writes the file: the
 * page's first save would meet JupyterLab's question about a changed file, and the change that was
 * written would be missing in the page.
 */
export async function reloadIfNewer(
  panel: IDocumentWidget,
  contents: Pick<Contents.IManager, 'get'>,
  isClean = () => !panel.context.model.dirty
): Promise<void> {
  try {
    if ((await isNewer(panel.context, contents)) && isClean()) {
      await revert(panel);
    }
  } catch (error) {
    // Its save says what is wrong with the file.
    console.debug('datalayer-agent: a file was not looked at', error);
  }
}

/** Whether the file was written after the document was loaded or saved. */
export async function isNewer(
  context: IDocumentWidget['context'],
  contents: Pick<Contents.IManager, 'get'>
): Promise<boolean> {
  // The context gives a copy of what it knows each time.
  const known = context.contentsModel?.last_modified;
  if (!known || context.model.collaborative) {
    return false;
  }
  const now = await contents.get(context.path, { content: false });
  return (
    Date.parse(now.last_modified) > Date.parse(known) &&
    // After a save in between the context knows the file.
    context.contentsModel?.last_modified === known
  );
}

/** What is typed while the file is on its way would be replaced by it: nothing can be typed then. */
async function revert({ content, context }: IDocumentWidget): Promise<void> {
  const hasFocus = content.node.contains(document.activeElement);
  content.node.inert = true;
  try {
    await context.revert();
  } finally {
    content.node.inert = false;
    if (hasFocus) {
      content.activate();
    }
  }
}
