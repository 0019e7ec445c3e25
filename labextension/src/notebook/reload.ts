import { IDocumentWidget } from '@jupyterlab/docregistry';
import { Contents } from '@jupyterlab/services';

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
  contents: Pick<Contents.IManager, 'get'>
): Promise<void> {
  try {
    if (await isNewer(panel.context, contents)) {
      await revertIfClean(panel);
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
async function revertIfClean({
  content,
  context
}: IDocumentWidget): Promise<void> {
  if (context.model.dirty) {
    return;
  }
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
