import type { YNotebook } from '@jupyter/ydoc';
import { NotebookActions } from '@jupyterlab/notebook';

import { writeInto } from '../../notebook/edits/write';
import { acceptBelow } from '../accept';
import { code, IOpenNotebook, open } from '../../notebook/__tests__/support';

let notebook: IOpenNotebook;

afterEach(() => notebook.close());

function shared(): YNotebook {
  return notebook.panel.model!.sharedModel as YNotebook;
}

function sources(): string[] {
  return shared().cells.map(cell => cell.getSource());
}

/** What typing in a cell's editor does to the document. */
function type(index: number, text: string): void {
  const { ysource, undoManager } = shared().cells[index];
  const origin = { conf: 'editor' };
  undoManager!.addTrackedOrigin(origin);
  ysource.doc!.transact(() => ysource.insert(ysource.length, text), origin);
}

describe('a suggestion that is accepted into the empty cell below', () => {
  beforeEach(async () => {
    notebook = await open([code('a', 'x = 1'), code('b', 'y = 2')]);
    // Shift+Enter made a cell, in which something was typed and deleted.
    const { content } = notebook.panel;
    content.activeCellIndex = 0;
    NotebookActions.insertBelow(content);
    type(1, ' ');
    acceptBelow(notebook.panel, content.widgets[0], 'print(x)');
    type(1, '  # mine');
  });

  it('is a step of its own of the cell’s undo', () => {
    expect(sources()).toEqual(['x = 1', 'print(x)  # mine', 'y = 2']);
    shared().cells[1].undo();
    expect(sources()[1]).toBe('print(x)');
    shared().cells[1].undo();
    expect(sources()).toEqual(['x = 1', ' ', 'y = 2']);
    shared().cells[1].redo();
    expect(sources()[1]).toBe('print(x)');
  });

  it('leaves the notebook’s undo what it was', () => {
    shared().undo();
    expect(sources()).toEqual(['x = 1', 'y = 2']);
    shared().redo();
    expect(sources()).toEqual(['x = 1', 'print(x)  # mine', 'y = 2']);
  });
});

describe('a suggestion that is accepted as a new cell', () => {
  beforeEach(async () => {
    notebook = await open([code('a', 'x = 1'), code('b', 'y = 2')]);
    shared().cells[1].setSource('y = 3');
    acceptBelow(notebook.panel, notebook.panel.content.widgets[0], 'print(x)');
  });

  it('is emptied by the cell’s undo', () => {
    shared().cells[1].undo();
    expect(sources()).toEqual(['x = 1', '', 'y = 3']);
  });

  it('goes by one step of the notebook’s, and comes back whole', () => {
    shared().undo();
    expect(sources()).toEqual(['x = 1', 'y = 3']);
    shared().redo();
    expect(sources()).toEqual(['x = 1', 'print(x)', 'y = 3']);
  });
});

it('with one undo for the whole notebook, is a step of its own of that', async () => {
  notebook = await open([code('a', 'x = 1'), code('b', '')], false);
  shared().cells[0].setSource('x = 2');
  acceptBelow(notebook.panel, notebook.panel.content.widgets[0], 'print(x)');
  shared().cells[0].setSource('x = 3');
  shared().undo();
  expect(sources()).toEqual(['x = 2', 'print(x)']);
  shared().cells[1].undo();
  expect(sources()).toEqual(['x = 2', '']);
});

it('an accepted change of a cell is a step of its own of the cell’s undo', async () => {
  notebook = await open([code('a', 'x = 1'), code('b', 'y = 2')]);
  type(0, '0');
  const [cell] = shared().cells;
  writeInto(cell, [{ from: 0, to: 1, insert: 'z' }]);
  type(0, '0');
  cell.undo();
  expect(sources()[0]).toBe('z = 10');
  cell.undo();
  expect(sources()[0]).toBe('x = 10');
});
