import { ICell } from '@jupyterlab/nbformat';
import { Context } from '@jupyterlab/docregistry';
import {
  NotebookModelFactory,
  NotebookPanel,
  NotebookTracker
} from '@jupyterlab/notebook';
import { NBTestUtils } from '@jupyterlab/notebook/lib/testutils';
import { Contents } from '@jupyterlab/services';
import { ServiceManagerMock } from '@jupyterlab/services/lib/testutils';
import { MessageLoop } from '@lumino/messaging';
import { UUID } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import { CellReader } from '../cells';
import { ExecutionTracker } from '../kernel/executions';

// What Yjs says of each cell that `@jupyter/ydoc` makes before it is in the document.
const KNOWN = /Add Yjs type to a document|Not same Y\.Doc/;
const { warn } = console;
console.warn = (...data: unknown[]) => {
  if (!KNOWN.test(String(data[0]))) {
    warn(...data);
  }
};

/** A notebook in a real panel in the page, over a service manager without a server. */
export interface IOpenNotebook {
  panel: NotebookPanel;
  tracker: NotebookTracker;
  executions: ExecutionTracker;
  /** The files that its context saves to. */
  contents: Contents.IManager;
  reader: CellReader;
  /** The ids of the cells, in order. */
  ids(): string[];
  source(id: string): string;
  close(): void;
}

/** A code cell with a source. */
export function code(id: string, source: string): ICell {
  return {
    id,
    cell_type: 'code',
    source,
    metadata: {},
    outputs: [],
    execution_count: null
  };
}

/** A Markdown cell with a source. */
export function markdown(id: string, source: string): ICell {
  return { id, cell_type: 'markdown', source, metadata: {} };
}

/** Open a notebook with these cells; `undoesByCell` as JupyterLab has it by default. */
export async function open(
  cells: ICell[],
  undoesByCell = true
): Promise<IOpenNotebook> {
  const manager = new ServiceManagerMock();
  const context = new Context({
    manager,
    factory: new NotebookModelFactory({
      disableDocumentWideUndoRedo: undoesByCell
    }),
    path: `${UUID.uuid4()}.ipynb`,
    kernelPreference: {
      shouldStart: false,
      canStart: false,
      autoStartDefault: false
    }
  });
  await context.initialize(true);
  await context.sessionContext.initialize();
  context.model.fromJSON({
    cells,
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5
  });
  // As after a document was loaded.
  context.model.sharedModel.clearUndoHistory();
  const panel = NBTestUtils.createNotebookPanel(context);
  Widget.attach(panel, document.body);
  MessageLoop.flush();
  const tracker = new NotebookTracker({ namespace: 'test' });
  const executions = new ExecutionTracker(tracker);
  await tracker.add(panel);
  const { sharedModel } = context.model;
  return {
    panel,
    tracker,
    executions,
    contents: manager.contents,
    reader: new CellReader(executions),
    ids: () => sharedModel.cells.map(cell => cell.getId()),
    source: id =>
      sharedModel.cells.find(cell => cell.getId() === id)!.getSource(),
    close: () => {
      tracker.dispose();
      panel.dispose();
      context.dispose();
    }
  };
}
