import { JupyterFrontEnd } from '@jupyterlab/application';
import { PathExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ISharedFile } from '@jupyter/ydoc';

import { Documents } from '../../notebook/documents';
import { writeInto } from '../../notebook/edits/write';

/** Open a text file and put another text in it: one step of its undo. It is not saved. */
export async function replaceText(
  {
    app,
    manager,
    documents
  }: { app: JupyterFrontEnd; manager: IDocumentManager; documents: Documents },
  path: string,
  text: string
): Promise<void> {
  await documents.open(path);
  const widget = manager.findWidget(path);
  const context = widget && manager.contextForWidget(widget);
  const { contentsModel, model } = context ?? {};
  const name = PathExt.basename(path);
  if (!widget || contentsModel?.format !== 'text') {
    throw new Error(`${name} is not a text file.`);
  }
  if (model?.readOnly || contentsModel.writable === false) {
    throw new Error(`${name} is read-only.`);
  }
  const shared = model!.sharedModel as ISharedFile & {
    undoManager?: { stopCapturing(): void };
  };
  const old = shared.getSource();
  const insert =
    old.endsWith('\n') && !text.endsWith('\n') ? `${text}\n` : text;
  writeInto(shared, [{ from: 0, to: old.length, insert }]);
  app.shell.activateById(widget.id);
}
