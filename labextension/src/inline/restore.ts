import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { NotebookPanel } from '@jupyterlab/notebook';

import { CellTarget } from './cellTarget';
import { InlineDesk } from './desk';

/** Open the inline chats of a notebook again that the person has not closed. */
export async function restoreChats(
  panel: NotebookPanel,
  path: string,
  desk: InlineDesk
): Promise<void> {
  const open = desk.sessions.openChats(path);
  for (const chat of await open.all()) {
    const { cellId, where, sessionId } = chat;
    if (!(await desk.sessions.has(path, sessionId))) {
      // The person has deleted the conversation.
      open.forget(chat);
      continue;
    }
    const cell = panel.content.widgets.find(({ model }) => model.id === cellId);
    if (!cell) {
      open.forget(chat);
      Notification.info(
        `An inline chat was open in ${PathExt.basename(path)}, on a cell that is not there any more. The agent's list of sessions has it.`
      );
      continue;
    }
    // One that is far down is made when it is scrolled to.
    void cell.ready.then(() => {
      if (!cell.isDisposed) {
        const owner = where === 'above' ? cell : (cell.inputArea ?? cell);
        desk.open(owner, () => new CellTarget(panel, cell, path, where), chat);
      }
    });
  }
}
