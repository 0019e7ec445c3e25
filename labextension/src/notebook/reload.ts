import { NotebookPanel } from '@jupyterlab/notebook';
import { Contents } from '@jupyterlab/services';

/**
 * Load a notebook anew whose file was written after it was loaded, unless something was changed in
 * the page since.
 *
 * While a page loads, the server does not know that it has the notebook, and writes the file: the
 * page's first save would meet JupyterLab's question about a changed file, and the change that was
 * written would be missing in the page.
 */
export async function reloadIfNewer(
  panel: NotebookPanel,
  contents: Pick<Contents.IManager, 'get'>
): Promise<void> {
  const { context } = panel;
  // The context gives a copy of what it knows each time.
  const known = context.contentsModel?.last_modified;
  if (!known || context.model.collaborative) {
    return;
  }
  try {
    const now = await contents.get(context.path, { content: false });
    const isNewer = Date.parse(now.last_modified) > Date.parse(known);
    // After a save in between the context knows the file.
    if (isNewer && context.contentsModel?.last_modified === known) {
      await revertIfClean(panel);
    }
  } catch (error) {
    // Its save says what is wrong with the file.
    console.debug('datalayer-agent: a file was not looked at', error);
  }
}

/** What is typed while the file is on its way would be replaced by it: nothing can be typed then. */
async function revertIfClean({
  content,
  context
}: NotebookPanel): Promise<void> {
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
