import type { YNotebook } from '@jupyter/ydoc';
import { CodeCell, MarkdownCell } from '@jupyterlab/cells';

import { CellEdit, PageNotebook, PageRequestError } from '../../../api';
import { applyEdits } from '../edit';
import { hashSource } from '../hash';
import { code, IOpenNotebook, markdown, open } from '../../__tests__/support';

describe('applyEdits', () => {
  let notebook: IOpenNotebook;

  beforeEach(async () => {
    notebook = await open([
      code('a', 'x = 1\nprint(x)'),
      code('b', 'y = 2'),
      markdown('m', '# Title'),
      code('c', 'z = 3')
    ]);
  });

  afterEach(() => notebook.close());

  function apply(...edits: CellEdit[]): PageNotebook {
    return applyEdits(notebook.panel, edits, notebook.reader);
  }

  function refusal(...edits: CellEdit[]): PageRequestError {
    try {
      apply(...edits);
    } catch (error) {
      return error as PageRequestError;
    }
    throw new Error('The batch was not refused.');
  }

  function insert(cellId: string, position: object, source = ''): CellEdit {
    return { op: 'insert', cellId, type: 'code', source, position };
  }

  function update(cellId: string, source: string): CellEdit {
    const baseHash = hashSource(notebook.source(cellId));
    return { op: 'update', cellId, baseHash, source };
  }

  function remove(cellId: string): CellEdit {
    const baseHash = hashSource(notebook.source(cellId));
    return { op: 'delete', cellId, baseHash };
  }

  function shared(): YNotebook {
    return notebook.panel.model!.sharedModel as YNotebook;
  }

  function cell(id: string): YNotebook['cells'][number] {
    return shared().cells.find(each => each.getId() === id)!;
  }

  /** What typing in a cell's editor does to the document. */
  function type(id: string, text: string): void {
    const { ysource, undoManager } = cell(id);
    // The editor's own origin, which only the cell's undo follows.
    const origin = {};
    undoManager!.addTrackedOrigin(origin);
    undoManager!.stopCapturing();
    ysource.doc!.transact(() => ysource.insert(ysource.length, text), origin);
  }

  it('inserts, changes, moves and deletes by id, each after the ones before it', () => {
    const result = apply(
      insert('n1', { at: 'start' }, 'first'),
      insert('n2', { after: 'n1' }),
      remove('b'),
      { op: 'move', cellId: 'c', position: { before: 'a' } },
      update('a', 'x = 10\nprint(x)'),
      insert('n3', { at: 'end' }),
      { op: 'move', cellId: 'n3', position: { after: 'a' } }
    );
    expect(notebook.ids()).toEqual(['n1', 'n2', 'c', 'a', 'n3', 'm']);
    expect(notebook.source('a')).toBe('x = 10\nprint(x)');
    expect(result.cells.map(({ id, index }) => [id, index])).toEqual([
      ['n1', 0],
      ['n2', 1],
      ['c', 2],
      ['a', 3],
      ['n3', 4]
    ]);
    expect(result.cells[0].hash).toBe(hashSource('first'));
  });

  it('peers_03: deletes the cells that were named, whatever their places become', () => {
    apply(remove('a'), remove('b'), remove('c'));
    expect(notebook.ids()).toEqual(['m']);
  });

  it('peers_10: changes a source in place: id, outputs, count and metadata stay', () => {
    const target = cell('a');
    if (target.cell_type === 'code') {
      target.setOutputs([{ output_type: 'stream', name: 'stdout', text: '1' }]);
      target.setExecutionCount(7);
    }
    target.setMetadata('tags', ['mine']);
    const widget = notebook.panel.content.widgets[0];
    apply(update('a', 'x = 2\nprint(x)'));
    expect(cell('a')).toBe(target);
    expect(notebook.panel.content.widgets[0]).toBe(widget);
    expect(target.toJSON()).toMatchObject({
      source: 'x = 2\nprint(x)',
      execution_count: 7,
      metadata: { tags: ['mine'] },
      outputs: [{ output_type: 'stream', name: 'stdout', text: '1' }]
    });
  });

  it('keeps the id and the metadata when the type changes', () => {
    cell('a').setMetadata('tags', ['mine']);
    const baseHash = hashSource(notebook.source('a'));
    const [{ type }] = apply(
      { op: 'update', cellId: 'a', baseHash, source: 'text', type: 'markdown' },
      { op: 'update', cellId: 'a', baseHash, source: 'more text' }
    ).cells;
    expect(type).toBe('markdown');
    expect(notebook.ids()).toEqual(['a', 'b', 'm', 'c']);
    expect(cell('a').toJSON()).toMatchObject({
      cell_type: 'markdown',
      source: 'more text',
      metadata: { tags: ['mine'] }
    });
    expect(cell('a').getMetadata('trusted')).toBeUndefined();
  });

  it('leaves a notebook from before cells had ids what it is, and says so', () => {
    expect(apply(insert('n', { at: 'end' })).idsKept).toBeUndefined();
    shared().nbformat_minor = 4;
    expect(apply(insert('o', { at: 'end' })).idsKept).toBe(false);
    expect(
      shared()
        .toJSON()
        .cells.map(({ id }) => id)
    ).toEqual(notebook.ids().map(() => undefined));
    expect(shared().nbformat_minor).toBe(4);
  });

  it('moves a cell with its outputs', () => {
    const target = cell('b');
    if (target.cell_type === 'code') {
      target.setOutputs([{ output_type: 'stream', name: 'stdout', text: '1' }]);
    }
    apply({ op: 'move', cellId: 'b', position: { at: 'end' } });
    expect(notebook.ids()).toEqual(['a', 'm', 'c', 'b']);
    expect(cell('b').toJSON()).toMatchObject({ outputs: [{ text: '1' }] });
  });

  it('trusts new code, which has no outputs, and not new Markdown', () => {
    apply(insert('n', { at: 'end' }, '1'), {
      op: 'insert',
      cellId: 'md',
      type: 'markdown',
      source: '<b>x</b>',
      position: { at: 'end' }
    });
    const { widgets } = notebook.panel.content;
    expect(widgets.slice(-2).map(({ model }) => model.trusted)).toEqual([
      true,
      false
    ]);
  });

  describe('refuses, and changes nothing:', () => {
    let before: unknown;

    beforeEach(() => {
      before = shared().toJSON();
    });

    afterEach(() => {
      expect(shared().toJSON()).toEqual(before);
      expect(shared().undoManager.undoStack).toHaveLength(0);
    });

    it('a hash that does not fit, with all such cells as they are', () => {
      const error = refusal(
        insert('n', { at: 'start' }),
        { op: 'update', cellId: 'a', baseHash: hashSource('old'), source: '' },
        { op: 'delete', cellId: 'c', baseHash: hashSource('old') }
      );
      expect(error.code).toBe('stale');
      expect(error.cells).toMatchObject([
        { id: 'a', index: 0, source: 'x = 1\nprint(x)' },
        { id: 'c', index: 3, source: 'z = 3' }
      ]);
    });

    it.each<[string, () => CellEdit[], string]>([
      ['an unknown cell', () => [{ ...remove('a'), cellId: 'q' }], 'not_found'],
      [
        'an unknown neighbour',
        () => [insert('n', { at: 'end' }), insert('n2', { after: 'q' })],
        'not_found'
      ],
      ['an id twice', () => [insert('a', { at: 'end' })], 'invalid'],
      ['no position', () => [insert('n', {})], 'invalid'],
      [
        'two positions',
        () => [insert('n', { at: 'start', after: 'a' })],
        'invalid'
      ],
      [
        'a move next to itself',
        () => [{ op: 'move', cellId: 'a', position: { after: 'a' } }],
        'invalid'
      ],
      [
        'outputs of Markdown',
        () => [{ op: 'outputs', cellId: 'm', outputs: [] }],
        'invalid'
      ],
      [
        'a change of a cell that the batch deleted',
        () => [remove('a'), update('a', '')],
        'not_found'
      ]
    ])('%s', (_, edits, expected) => {
      expect(refusal(...edits()).code).toBe(expected);
    });

    it('a cell that is running, where it would be made anew', () => {
      const { model } = notebook.panel.content.widgets[0] as CodeCell;
      model.executionState = 'running';
      for (const edit of [
        remove('a'),
        { op: 'move', cellId: 'a', position: { at: 'end' } } as const,
        { ...update('a', 'x'), type: 'markdown' } as CellEdit
      ]) {
        expect(refusal(edit)).toMatchObject({
          code: 'invalid',
          message: expect.stringContaining('running')
        });
      }
      model.executionState = 'idle';
    });

    it('a running cell whose editor would have to be made anew', () => {
      cell('a').setSource('x = 1\r\nprint(x)');
      const { model } = notebook.panel.content.widgets[0] as CodeCell;
      model.executionState = 'running';
      before = shared().toJSON();
      expect(refusal(update('a', 'x')).message).toContain('running');
      model.executionState = 'idle';
    });

    it('a cell that its metadata locks', () => {
      cell('a').setMetadata('editable', false);
      cell('a').setMetadata('deletable', false);
      before = shared().toJSON();
      expect(refusal(update('a', 'x')).code).toBe('invalid');
      expect(refusal(remove('a')).code).toBe('invalid');
    });

    it('a cell that nbgrader locks', () => {
      cell('a').setMetadata('nbgrader', { locked: true, grade: false });
      before = shared().toJSON();
      expect(refusal(update('a', 'x')).message).toContain('locked');
      expect(refusal(remove('a')).message).toContain('locked');
    });
  });

  describe('in a cell whose lines end in CRLF,', () => {
    beforeEach(async () => {
      notebook.close();
      notebook = await open([
        code('a', 'a = 1\r\nb = 2\r\nc = 3'),
        code('b', 'x\r\ny')
      ]);
    });

    const shown = (index: number): string =>
      notebook.panel.content.widgets[index].editor!.model.sharedModel.source;

    it('writes line feeds, into an editor of its own; other cells stay', async () => {
      const edit = update('a', 'a = 1\nb = 20\nc = 3');
      expect(apply(edit).cells[0].source).toBe('a = 1\nb = 20\nc = 3');
      expect(notebook.source('a')).toBe('a = 1\nb = 20\nc = 3');
      await notebook.panel.content.widgets[0].ready;
      expect(shown(0)).toBe('a = 1\nb = 20\nc = 3');
      expect(notebook.source('b')).toBe('x\r\ny');
      expect(notebook.ids()).toEqual(['a', 'b']);
    });

    it('changes nothing where only line ends differ', () => {
      expect(apply(update('a', 'a = 1\nb = 2\nc = 3')).cells[0].source).toBe(
        'a = 1\r\nb = 2\r\nc = 3'
      );
    });

    it('restores it as it was', () => {
      const source = 'a = 1\r\nb = 2\r\nc = 3';
      const cell = { ...code('a', source), metadata: { tags: ['t'] } };
      apply(update('a', 'other'));
      const baseHash = hashSource('other');
      apply({
        op: 'update',
        cellId: 'a',
        baseHash,
        source,
        type: 'code',
        cell: cell as object
      } as CellEdit);
      expect(notebook.source('a')).toBe('a = 1\r\nb = 2\r\nc = 3');
    });
  });

  describe('as a step of the undo', () => {
    it('peers_05: is taken back whole, and leaves what the user typed', () => {
      type('b', '  # mine');
      apply(
        update('a', 'x = 5\nprint(x)'),
        insert('n', { at: 'start' }),
        remove('c'),
        { op: 'move', cellId: 'm', position: { at: 'start' } }
      );
      type('b', '!');
      type('a', '  # also mine');
      shared().undo();
      expect(notebook.ids()).toEqual(['a', 'b', 'm', 'c']);
      expect(notebook.source('a')).toBe('x = 1\nprint(x)  # also mine');
      expect(notebook.source('b')).toBe('y = 2  # mine!');
      shared().redo();
      expect(notebook.ids()).toEqual(['m', 'n', 'a', 'b']);
      expect(notebook.source('a')).toBe('x = 5\nprint(x)  # also mine');
    });

    it('is apart from the user’s own steps right before and after it', () => {
      shared().insertCell(0, { cell_type: 'code', id: 'p1', source: '' });
      apply(insert('n', { at: 'end' }));
      shared().insertCell(0, { cell_type: 'code', id: 'p2', source: '' });
      shared().undo();
      expect(notebook.ids()).toEqual(['p1', 'a', 'b', 'm', 'c', 'n']);
      shared().undo();
      expect(notebook.ids()).toEqual(['p1', 'a', 'b', 'm', 'c']);
      shared().undo();
      expect(notebook.ids()).toEqual(['a', 'b', 'm', 'c']);
    });

    it('does not enter the cell’s own undo, which takes back only typing', () => {
      type('a', '  # mine');
      apply(update('a', 'x = 5\nprint(x)  # mine'));
      cell('a').undo();
      expect(notebook.source('a')).toBe('x = 5\nprint(x)');
      expect(cell('a').canUndo()).toBe(false);
    });

    it('holds no outputs that the server ran', () => {
      apply({
        op: 'outputs',
        cellId: 'a',
        outputs: [{ output_type: 'stream', name: 'stdout', text: ['1', '2'] }],
        executionCount: 3
      });
      expect(shared().canUndo()).toBe(false);
      expect(cell('a').toJSON()).toMatchObject({
        execution_count: 3,
        outputs: [{ text: '12' }]
      });
      const { model } = notebook.panel.content.widgets[0] as CodeCell;
      expect(model.outputs.length).toBe(1);
      expect(model.trusted).toBe(true);
    });

    it('replaces outputs by those that the cell has a moment later', () => {
      for (const text of ['early\n', 'early\nlate\n']) {
        const stream = { output_type: 'stream', name: 'stdout', text };
        apply({ op: 'outputs', cellId: 'a', outputs: [stream] });
        expect(cell('a').toJSON()).toMatchObject({ outputs: [{ text }] });
        const { model } = notebook.panel.content.widgets[0] as CodeCell;
        expect(model.outputs.toJSON()).toMatchObject([{ text }]);
      }
    });
  });

  describe('leaves the user where they are:', () => {
    function active(): string {
      return notebook.panel.content.activeCell!.model.id;
    }

    it('in edit mode in the same cell, over insertions, removals and moves', () => {
      const { content } = notebook.panel;
      content.activeCellIndex = 1;
      content.mode = 'edit';
      apply(
        insert('n1', { at: 'start' }),
        insert('n2', { after: 'a' }),
        remove('c'),
        { op: 'move', cellId: 'm', position: { at: 'start' } }
      );
      expect(notebook.ids()).toEqual(['m', 'n1', 'a', 'n2', 'b']);
      expect(active()).toBe('b');
      expect(content.mode).toBe('edit');
    });

    it('with their selection', () => {
      const { content } = notebook.panel;
      content.activeCellIndex = 1;
      content.select(content.widgets[3]);
      apply(insert('n1', { at: 'start' }), {
        op: 'move',
        cellId: 'c',
        position: { at: 'start' }
      });
      expect(active()).toBe('b');
      const selected = content.widgets.filter(w =>
        content.isSelectedOrActive(w)
      );
      expect(selected.map(({ model }) => model.id)).toEqual(['c', 'b']);
    });

    it('beside a cell that was deleted, and not typing in another one', () => {
      const { content } = notebook.panel;
      content.activeCellIndex = 1;
      content.mode = 'edit';
      apply(remove('b'));
      expect(active()).toBe('m');
      expect(content.mode).toBe('command');
    });

    it('with other Markdown rendered as it was', () => {
      const { content } = notebook.panel;
      const title = content.widgets[2] as MarkdownCell;
      title.rendered = true;
      content.activeCellIndex = 1;
      content.mode = 'edit';
      apply(insert('n1', { at: 'start' }), insert('n2', { after: 'a' }));
      expect(title.rendered).toBe(true);
    });
  });

  it('refuses a notebook that is read-only', () => {
    notebook.panel.model!.readOnly = true;
    expect(refusal(insert('n', { at: 'end' })).code).toBe('invalid');
    expect(notebook.ids()).toEqual(['a', 'b', 'm', 'c']);
  });
});
