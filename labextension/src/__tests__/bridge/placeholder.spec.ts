import { CellEdit } from '../../api';
import { applyEdits } from '../../bridge/edit';
import { noteOpened } from '../../bridge/placeholder';
import { code, IOpenNotebook, markdown, open } from './support';

describe('the empty cell of a notebook that was opened to be filled', () => {
  let notebook: IOpenNotebook;

  afterEach(() => notebook.close());

  const insert = (cellId: string, position: object): CellEdit => ({
    op: 'insert',
    cellId,
    type: 'markdown',
    source: '# Title',
    position
  });
  const write = (...edits: CellEdit[]) =>
    applyEdits(notebook.panel, edits, notebook.reader);
  const ids = () =>
    notebook.panel.model!.sharedModel.cells.map(cell => cell.getId());

  it('goes with the first cells that are written, and comes back with their undo', async () => {
    notebook = await open([code('empty', '')]);
    noteOpened(notebook.panel);
    write(insert('n1', { at: 'end' }));
    expect(ids()).toEqual(['n1']);
    notebook.panel.model!.sharedModel.undo();
    expect(ids()).toEqual(['empty']);
  });

  it('stays where the edits name it', async () => {
    notebook = await open([code('empty', '')]);
    noteOpened(notebook.panel);
    write(insert('n1', { after: 'empty' }));
    expect(ids()).toEqual(['empty', 'n1']);
  });

  it('stays where somebody has written in it, or opened the notebook themselves', async () => {
    notebook = await open([code('empty', '')]);
    write(insert('n1', { at: 'end' }));
    expect(ids()).toEqual(['empty', 'n1']);
    notebook.close();
    notebook = await open([code('empty', '')]);
    noteOpened(notebook.panel);
    notebook.panel.model!.sharedModel.cells[0].setSource('x = 1');
    write(insert('n1', { at: 'end' }));
    expect(ids()).toEqual(['empty', 'n1']);
  });

  it('is none of a notebook that holds something', async () => {
    notebook = await open([markdown('m', '# Mine'), code('empty', '')]);
    noteOpened(notebook.panel);
    write(insert('n1', { at: 'end' }));
    expect(ids()).toEqual(['m', 'empty', 'n1']);
  });
});
