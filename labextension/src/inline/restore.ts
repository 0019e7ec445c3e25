import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { DocumentWidget } from '@jupyterlab/docregistry';
import { FileEditor } from '@jupyterlab/fileeditor';
import { NotebookPanel } from '@jupyterlab/notebook';

import { CellTarget } from './cellTarget';
import { InlineDesk } from './desk';
import { FileTarget } from './fileTarget';
import { IN_FILE, wasAsked } from './openChats';

/** Open the inline chat of a text file again if the person has not closed it. */
export async function restoreFileChat(
  file: DocumentWidget<FileEditor>,
  path: string,
  desk: InlineDesk
): Promise<void> {
  const open = desk.sessions.openChats(path);
  const chat = (await open.all()).find(
    ({ cellId }) => cellId === IN_FILE.cellId
  );
  if (!chat || file.isDisposed) {
    return;
  }
  if (!wasAsked(chat) || (await desk.sessions.has(path, chat.sessionId))) {
    desk.open(file, () => new FileTarget(file, path), chat);
  } else {
    open.forget(chat);
  }
}

/** Open the inline chats of a notebook again that the person has not closed. */
export async function restoreChats(
  panel: NotebookPanel,
  path: string,
  desk: InlineDesk
): Promise<void> {
  const open = desk.sessions.openChats(path);
  for (const chat of await open.all()) {
    const { cellId, where, sessionId } = chat;
    if (cellId === IN_FILE.cellId) {
      // It is shown where the notebook is open as text.
      continue;
    }
    if (wasAsked(chat) && !(await desk.sessions.has(path, sessionId))) {
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
