import { YCodeCell, YNotebook } from '@jupyter/ydoc';
import * as Y from 'yjs';

import { CellEdit } from '../../../api';
import { applyEdits } from '../edit';
import { hashSource } from '../hash';
import { noteOpened } from '../placeholder';
import { code, IOpenNotebook, markdown, open } from '../../__tests__/support';

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

  it('is what goes, and not a cell of the batch, wherever they are written', async () => {
    const source = '# Title';
    for (const [edits, left] of [
      [[insert('n1', { at: 'start' })], ['n1']],
      [
        [insert('n1', { at: 'start' }), insert('n2', { at: 'start' })],
        ['n2', 'n1']
      ],
      [
        [insert('n1', { at: 'end' }), insert('n2', { before: 'n1' })],
        ['n2', 'n1']
      ],
      [
        [
          insert('n1', { at: 'end' }),
          insert('n2', { at: 'end' }),
          { op: 'move', cellId: 'n2', position: { at: 'start' } }
        ],
        ['n2', 'n1']
      ],
      [
        [
          insert('n1', { at: 'start' }),
          insert('n2', { at: 'start' }),
          { op: 'delete', cellId: 'n2', baseHash: hashSource(source) }
        ],
        ['n1']
      ],
      [
        [
          insert('n1', { at: 'start' }),
          {
            op: 'update',
            cellId: 'n1',
            baseHash: hashSource(source),
            source: 'x = 1',
            type: 'code'
          }
        ],
        ['n1']
      ]
    ] as [CellEdit[], string[]][]) {
      notebook = await open([code('empty', '')]);
      noteOpened(notebook.panel);
      const { cells } = write(...edits);
      expect(ids()).toEqual(left);
      expect([...cells].sort((a, b) => a.index - b.index)).toMatchObject(
        left.map((id, index) => ({ id, index }))
      );
      notebook.panel.model!.sharedModel.undo();
      expect(ids()).toEqual(['empty']);
      notebook.close();
    }
    notebook = await open([code('empty', '')]);
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

  it('goes with the next batch where the first one was refused', async () => {
    notebook = await open([code('empty', '')]);
    noteOpened(notebook.panel);
    expect(() => write(insert('n1', { after: 'nowhere' }))).toThrow(/nowhere/);
    expect(ids()).toEqual(['empty']);
    write(insert('n1', { at: 'start' }));
    expect(ids()).toEqual(['n1']);
  });

  it('stays, and the batch goes through, where the user locked it or it runs', async () => {
    notebook = await open([code('empty', '')]);
    noteOpened(notebook.panel);
    notebook.panel.model!.sharedModel.cells[0].setMetadata('deletable', false);
    write(insert('n1', { at: 'start' }));
    expect(ids()).toEqual(['n1', 'empty']);
    notebook.close();
    notebook = await open([code('empty', '')]);
    noteOpened(notebook.panel);
    const shared = notebook.panel.model!.sharedModel as YNotebook;
    (shared.cells[0] as YCodeCell).executionState = 'running';
    write(insert('n1', { at: 'start' }));
    expect(ids()).toEqual(['n1', 'empty']);
  });

  it('is that of a shared notebook too, whose cells come from the room', async () => {
    notebook = await open([]);
    noteOpened(notebook.panel);
    const shared = notebook.panel.model!.sharedModel as YNotebook;
    // Another page of the room puts the cell in; this one learns of it as an update.
    const room = new YNotebook();
    Y.applyUpdate(room.ydoc, Y.encodeStateAsUpdate(shared.ydoc));
    room.insertCell(0, { cell_type: 'code', id: 'empty', source: '' });
    room.deleteCellRange(1, room.cells.length);
    Y.applyUpdate(shared.ydoc, Y.encodeStateAsUpdate(room.ydoc));
    expect(ids()).toEqual(['empty']);
    write(insert('n1', { at: 'start' }));
    expect(ids()).toEqual(['n1']);
    Y.applyUpdate(room.ydoc, Y.encodeStateAsUpdate(shared.ydoc));
    expect(room.cells.map(cell => cell.getId())).toEqual(['n1']);
  });
});
