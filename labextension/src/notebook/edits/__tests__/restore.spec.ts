import type { YNotebook } from '@jupyter/ydoc';
import { ICell, IOutput } from '@jupyterlab/nbformat';
import { CodeCell } from '@jupyterlab/cells';

import { CellEdit, PageNotebook, PageRequestError } from '../../../api';
import { applyEdits } from '../edit';
import { hashSource } from '../hash';
import { code, IOpenNotebook, markdown, open } from '../../__tests__/support';

/** Whole cells: read, and put back by an undo of a turn. */
describe('whole cells', () => {
  let notebook: IOpenNotebook;

  const result = (text: string, count: number): IOutput => ({
    output_type: 'execute_result',
    data: { 'text/plain': text },
    metadata: {},
    execution_count: count
  });

  const ran: ICell = {
    ...code('a', 'x = 1'),
    metadata: { tags: ['mine'], trusted: true },
    outputs: [
      { output_type: 'stream', name: 'stdout', text: '1\n' },
      result('1', 3)
    ],
    execution_count: 3
  };
  const pictured: ICell = {
    ...markdown('m', '![](attachment:a.png)'),
    attachments: { 'a.png': { 'image/png': 'AAAA' } }
  };

  beforeEach(async () => {
    notebook = await open([ran, code('b', 'y = 2'), pictured]);
  });

  afterEach(() => notebook.close());

  function shared(): YNotebook {
    return notebook.panel.model!.sharedModel as YNotebook;
  }

  function apply(...edits: CellEdit[]): PageNotebook {
    return applyEdits(notebook.panel, edits, notebook.reader);
  }

  function whole(id: string): Record<string, unknown> {
    return notebook.reader.readWhole(notebook.panel, [id]).cells[0].cell!;
  }

  function update(id: string, source: string, type?: 'code' | 'markdown') {
    const baseHash = hashSource(notebook.source(id));
    return { op: 'update', cellId: id, baseHash, source, type } as const;
  }

  function restore(id: string, cell: Record<string, unknown>): CellEdit {
    return {
      ...update(id, cell.source as string, cell.cell_type as 'code'),
      cell
    };
  }

  function remove(id: string): CellEdit {
    const baseHash = hashSource(notebook.source(id));
    return { op: 'delete', cellId: id, baseHash };
  }

  it('are read with everything in them, and with the order of all', () => {
    const { cells, order } = notebook.reader.readWhole(notebook.panel, [
      'm',
      'a',
      'gone'
    ]);
    expect(order).toEqual(['a', 'b', 'm']);
    expect(cells.map(({ id, index }) => [id, index])).toEqual([
      ['a', 0],
      ['m', 2]
    ]);
    expect(cells[0].cell).toEqual(ran);
    expect(cells[1].cell).toEqual(pictured);
    expect(notebook.reader.readWhole(notebook.panel).cells).toHaveLength(3);
    expect(notebook.reader.readWhole(notebook.panel, []).cells).toEqual([]);
  });

  it('come back when they were deleted, with outputs, metadata and trust', () => {
    const cells = [whole('a'), whole('m')];
    apply(remove('a'), remove('m'));
    apply(
      {
        op: 'insert',
        cellId: 'a',
        type: 'code',
        source: 'x = 1',
        position: { at: 'start' },
        cell: cells[0]
      },
      {
        op: 'insert',
        cellId: 'm',
        type: 'markdown',
        source: pictured.source as string,
        position: { after: 'b' },
        cell: cells[1]
      }
    );
    expect(notebook.ids()).toEqual(['a', 'b', 'm']);
    expect(whole('a')).toEqual(ran);
    expect(whole('m')).toEqual(pictured);
    const { model } = notebook.panel.content.widgets[0] as CodeCell;
    expect(model.outputs.length).toBe(2);
    expect(model.trusted).toBe(true);
  });

  it('are restored in place, as one step of the notebook’s undo', () => {
    const before = whole('a');
    const target = shared().cells[0];
    const widget = notebook.panel.content.widgets[0];
    apply(update('a', 'x = 10'));
    target.setMetadata('tags', ['theirs']);
    target.setMetadata('new', 1);
    if (target.cell_type === 'code') {
      target.setOutputs([result('10', 4)]);
      target.setExecutionCount(4);
    }
    const changed = whole('a');
    shared().clearUndoHistory();

    apply(restore('a', before));
    expect(whole('a')).toEqual(ran);
    expect(shared().cells[0]).toBe(target);
    expect(notebook.panel.content.widgets[0]).toBe(widget);
    expect((widget as CodeCell).model.outputs.length).toBe(2);
    shared().undo();
    expect(whole('a')).toEqual(changed);
    expect(shared().canUndo()).toBe(false);
    shared().redo();
    expect(whole('a')).toEqual(ran);
  });

  it('are restored with the type that they had', () => {
    const cells = [whole('a'), whole('m')];
    apply(update('a', 'text', 'markdown'), update('m', '1', 'code'));
    apply(restore('a', cells[0]), restore('m', cells[1]));
    expect(notebook.ids()).toEqual(['a', 'b', 'm']);
    expect(whole('a')).toEqual(ran);
    expect(whole('m')).toEqual(pictured);
  });

  it('are restored and moved in one batch', () => {
    const before = whole('a');
    apply(update('a', 'x = 10'), {
      op: 'move',
      cellId: 'a',
      position: { at: 'end' }
    });
    apply(restore('a', before), {
      op: 'move',
      cellId: 'a',
      position: { at: 'start' }
    });
    expect(notebook.ids()).toEqual(['a', 'b', 'm']);
    expect(whole('a')).toEqual(ran);
  });

  it('get no trust by coming back', () => {
    const { model } = notebook.panel.content.widgets[0] as CodeCell;
    apply(restore('a', { ...ran, metadata: { tags: ['mine'] } }));
    expect(model.trusted).toBe(false);
    expect(model.outputs.length).toBe(2);
  });

  it('leave what the user types elsewhere', () => {
    const before = whole('a');
    apply(update('a', 'x = 10'));
    shared().cells[1].setSource('typed');
    apply(restore('a', before));
    expect(notebook.source('b')).toBe('typed');
  });

  it('are refused where they contradict their edit, or the cell runs', () => {
    const refusal = (...edits: CellEdit[]): unknown => {
      try {
        return apply(...edits);
      } catch (error) {
        return (error as PageRequestError).code;
      }
    };
    const edit = restore('a', whole('a')) as Extract<
      CellEdit,
      { op: 'update' }
    >;
    expect(refusal({ ...edit, source: 'other' })).toBe('invalid');
    expect(refusal({ ...edit, baseHash: hashSource('old') })).toBe('stale');
    const { model } = notebook.panel.content.widgets[0] as CodeCell;
    model.executionState = 'running';
    expect(refusal(edit)).toBe('invalid');
    model.executionState = 'idle';
  });

  it('outputs of a cell that is locked can be restored; its text cannot', () => {
    shared().cells[0].setMetadata('editable', false);
    const locked = whole('a');
    apply(restore('a', { ...locked, outputs: [], execution_count: null }));
    expect(whole('a')).toMatchObject({ outputs: [] });
    expect(() => apply(restore('a', { ...locked, source: 'y' }))).toThrow(
      'locked'
    );
  });
});
