import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookCellExecutor, INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator } from '@jupyterlab/translation';

import { IPageConnection } from '../api';
import { forEachNotebook } from '../notebook/forEachNotebook';
import { IAgentConnection } from '../tokens';
import { createBridge } from './index';

/**
 * Lets the server act on the notebooks of this page.
 *
 * The connection is opened with the first notebook: a server that does not know that a notebook
 * is open would write its file behind the user's back.
 */
export const bridgePlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-datalayer-agent:bridge',
  description: "The agent's hands in the page: its notebooks and kernels.",
  autoStart: true,
  requires: [IAgentConnection, IDocumentManager, INotebookTracker],
  optional: [INotebookCellExecutor, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    connection: IPageConnection,
    docManager: IDocumentManager,
    tracker: INotebookTracker,
    executor: INotebookCellExecutor | null,
    translator: ITranslator | null
  ): void => {
    const { shell } = app;
    createBridge({
      shell,
      docManager,
      tracker,
      connection,
      executor,
      translator
    });
    forEachNotebook(tracker, () => connection.connect());
  }
};
