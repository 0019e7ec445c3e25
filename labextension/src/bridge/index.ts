import { JupyterFrontEnd } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookCellExecutor, INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator } from '@jupyterlab/translation';
import { DisposableSet, IDisposable } from '@lumino/disposable';
import { ISignal } from '@lumino/signaling';

import { EditorState, IPageConnection } from '../api';
import { CellReader } from '../notebook/cells';
import { Documents } from '../notebook/documents';
import { EditorStateReporter } from './editorState';
import { ExecutionTracker } from '../notebook/executions';
import { createMethods, dispatch } from './methods';
import { Runner } from './run';
import { Saver } from '../notebook/save';

/** What the bridge is made of. */
export interface IBridgeOptions {
  shell: JupyterFrontEnd.IShell;
  tracker: INotebookTracker;
  docManager: IDocumentManager;
  connection: IPageConnection;
  /** Runs cells; JupyterLab's own way where there is none. */
  executor?: INotebookCellExecutor | null;
  /** The language of JupyterLab's dialogs. */
  translator?: ITranslator | null;
}

/** The side of the page that the server sees: its documents and kernels. */
export interface IBridge extends IDisposable {
  /** What the user has before them, as it is reported to the server. */
  readonly editorState: EditorState;
  readonly editorStateChanged: ISignal<unknown, EditorState>;
  /** Open a notebook if need be, and go to a cell, because the user asked for it. */
  reveal(path: string, cellId: string): Promise<void>;
  /** Open a document without taking the focus. */
  open(path: string): Promise<void>;
}

/**
 * Let the server act on the page's documents over `connection`, and report to it what the user sees.
 *
 * The connection is not opened by this.
 */
export function createBridge(options: IBridgeOptions): IBridge {
  return new Bridge(options);
}

class Bridge implements IBridge {
  constructor(options: IBridgeOptions) {
    const { shell, tracker, docManager, connection, executor, translator } =
      options;
    const executions = new ExecutionTracker(tracker);
    const saver = new Saver(tracker, translator ?? undefined);
    this._documents = new Documents(shell, tracker, docManager, true);
    this._reporter = new EditorStateReporter(
      shell,
      tracker,
      this._documents,
      executions
    );
    const methods = createMethods({
      documents: this._documents,
      reader: new CellReader(executions),
      runner: new Runner(executions, saver, executor ?? null),
      saver
    });
    this._parts.add(executions);
    this._parts.add(this._reporter);
    this._parts.add(
      connection.onRequest(async (request, progress) => {
        try {
          return await dispatch(methods, request, progress);
        } catch (error) {
          // What is not open is not to be asked for again.
          this._reporter.flush();
          throw error;
        }
      })
    );
    connection.sendEditorState(this._reporter.state);
    this._reporter.changed.connect((_, state) =>
      connection.sendEditorState(state)
    );
  }

  get editorState(): EditorState {
    return this._reporter.state;
  }

  get editorStateChanged(): ISignal<unknown, EditorState> {
    return this._reporter.changed;
  }

  get isDisposed(): boolean {
    return this._parts.isDisposed;
  }

  dispose(): void {
    this._parts.dispose();
  }

  async reveal(path: string, cellId: string): Promise<void> {
    if (!this._documents.findNotebook(path)) {
      await this._documents.open(path);
    }
    await this._documents.reveal(path, cellId, true);
  }

  open(path: string): Promise<void> {
    return this._documents.open(path);
  }

  private readonly _documents: Documents;
  private readonly _reporter: EditorStateReporter;
  private readonly _parts = new DisposableSet();
}
