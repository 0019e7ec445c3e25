import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker } from '@jupyterlab/notebook';

import { IDocuments } from '../tokens';
import { Documents } from './documents';

/** Provides the documents that are open in the page. */
export const documentsPlugin: JupyterFrontEndPlugin<Documents> = {
  id: 'jupyter-datalayer-agent:documents',
  description: 'The documents that are open in the page.',
  autoStart: true,
  provides: IDocuments,
  requires: [IDocumentManager, INotebookTracker],
  activate: (
    { shell }: JupyterFrontEnd,
    manager: IDocumentManager,
    tracker: INotebookTracker
  ) => new Documents(shell, tracker, manager)
};
