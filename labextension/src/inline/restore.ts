import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import { DocumentWidget } from '@jupyterlab/docregistry';
import { FileEditor } from '@jupyterlab/fileeditor';
import { NotebookPanel } from '@jupyterlab/notebook';

import { CellTarget } from './cellTarget';
import { InlineController } from './controller';
import { FileTarget } from './fileTarget';
import { IN_FILE, wasAsked } from './openChats';

/** Open the inline chat of a text file again if the user has not closed it. */
export async function restoreFileChat(
  file: DocumentWidget<FileEditor>,
  path: string,
  controller: InlineController
): Promise<void> {
  const open = controller.sessions.openChats(path);
  const chat = (await open.all()).find(
    ({ cellId }) => cellId === IN_FILE.cellId
  );
  if (!chat || chat.isAside || file.isDisposed) {
    return;
  }
  if (
    !wasAsked(chat) ||
    (await controller.sessions.has(path, chat.sessionId))
  ) {
    const place = { view: file, ...IN_FILE };
    controller.open(place, () => new FileTarget(file, path), chat);
  } else {
    open.forget(chat);
  }
}

/** Open the inline chats of a notebook again that the user has not closed. */
export async function restoreChats(
  panel: NotebookPanel,
  path: string,
  controller: InlineController
): Promise<void> {
  const open = controller.sessions.openChats(path);
  for (const chat of await open.all()) {
    const { cellId, where, sessionId, isAside } = chat;
    const cell = panel.content.widgets.find(({ model }) => model.id === cellId);
    if (cellId === IN_FILE.cellId || (isAside && cell)) {
      // It is shown where the notebook is open as text, or when the user opens it.
      continue;
    }
    if (wasAsked(chat) && !(await controller.sessions.has(path, sessionId))) {
      // The user has deleted the conversation.
      open.forget(chat);
      continue;
    }
    if (!cell) {
      open.forget(chat);
      if (isAside) {
        continue;
      }
      Notification.info(
        `An inline chat was open in ${PathExt.basename(path)}, on a cell that no longer exists. Find it in the agent's session list.`
      );
      continue;
    }
    // One that is far down is made when it is scrolled to.
    void cell.ready.then(() => {
      if (!cell.isDisposed) {
        const place = { view: panel, cellId, where };
        controller.open(
          place,
          () => new CellTarget(panel, cell, path, where),
          chat
        );
      }
    });
  }
}
