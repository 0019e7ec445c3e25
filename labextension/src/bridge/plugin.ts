import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookCellExecutor, INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator } from '@jupyterlab/translation';

import { EditorState, IPageConnection } from '../api';
import { CellReader } from '../notebook/cells';
import { Documents } from '../notebook/documents';
import { ExecutionTracker } from '../notebook/kernel/executions';
import { forEachNotebook } from '../notebook/forEachNotebook';
import { dateSaves, followRename } from '../notebook/renames';
import { NotebookReloader } from '../notebook/reload';
import { Saver } from '../notebook/save';
import { ShownDocuments } from '../notebook/shownDocuments';
import { IAgentConnection, IDocuments, IShownDocuments } from '../tokens';
import { EditorStateReporter } from './editorState';
import { createMethods, dispatch } from './methods';
import { Runner } from './run';

/**
 * Lets the server act on the documents and kernels of this page, and reports to it what the user
 * sees.
 *
 * The connection is opened with the first notebook or text file: a server that does not know that
 * it is open would write its file behind the user's back.
 */
export const bridgePlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-datalayer-agent:bridge',
  description: "The agent's hands in the page: its notebooks and kernels.",
  autoStart: true,
  requires: [IAgentConnection, IDocuments, INotebookTracker, IShownDocuments],
  optional: [INotebookCellExecutor, ITranslator],
  activate: (
    { commands, serviceManager, shell }: JupyterFrontEnd,
    connection: IPageConnection,
    documents: Documents,
    tracker: INotebookTracker,
    shown: ShownDocuments,
    executor: INotebookCellExecutor | null,
    translator: ITranslator | null
  ): void => {
    const executions = new ExecutionTracker(tracker);
    const saver = new Saver(tracker, translator ?? undefined);
    const reporter = new EditorStateReporter(
      shell,
      tracker,
      documents,
      executions
    );
    const { contents } = serviceManager;
    const reloader = new NotebookReloader(tracker, contents);
    const methods = createMethods({
      commands,
      documents,
      contents,
      reloader,
      reader: new CellReader(executions),
      runner: new Runner(executions, saver, executor, shown),
      saver
    });
    connection.onRequest(async (request, progress, abandoned) => {
      try {
        return await dispatch(methods, request, progress, abandoned);
      } catch (error) {
        // What is not open is not to be asked for again.
        reporter.flush();
        throw error;
      }
    });
    const report = (state: EditorState) => {
      connection.sendEditorState(state);
      if (state.files?.length) {
        connection.connect();
      }
    };
    report(reporter.state);
    reporter.changed.connect((_, state) => report(state));
    forEachNotebook(tracker, () => connection.connect());
    dateSaves(contents, () => connection.renamesKnownUntil);
    // Before anything that the server asks for under the new path.
    connection.fileRenamed.connect((_, renamed) => {
      followRename(renamed, documents, contents);
      reporter.flush();
    });
    // One that was closed meanwhile is nobody's concern.
    const compareText = (path: string) =>
      void documents.text(path).catch(() => undefined);
    // Another page may have changed a file that this one shows, too.
    connection.touched.connect((_, { path }) => {
      if (reporter.state.files?.includes(path)) {
        compareText(path);
      }
    });
    connection.fileWritten.connect((_, { path }) => {
      if (documents.findNotebook(path)) {
        documents.notebook(path).then(
          panel => reloader.compare(panel),
          () => undefined
        );
      } else {
        compareText(path);
      }
    });
  }
};
