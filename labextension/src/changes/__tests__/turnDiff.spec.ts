import type { ICell } from '@jupyterlab/nbformat';

import { Change } from '../../api/types';
import { sideBySide } from '../../diff/rows';
import { countKinds, turnDiff } from '../turnDiff';

const code = (id: string, text: string, metadata = {}): ICell =>
  ({
    id,
    cell_type: 'code',
    source: '',
    metadata: { ...metadata, trusted: true },
    outputs: text
      ? [{ output_type: 'stream', name: 'stdout', text: [`${text}\n`] }]
      : []
  }) as unknown as ICell;

const before = (cellId: string, cell?: ICell) => ({
  path: 'a.ipynb',
  cellId,
  cell: cell as unknown as { [key: string]: unknown }
});

describe('the diff of a turn', () => {
  it('has sources by cell, and outputs and metadata apart from them', () => {
    const changes: Change[] = [
      {
        path: 'a.ipynb',
        op: 'update',
        cellId: 'two',
        // It was the third when it was changed.
        index: 2,
        before: 'x = 1',
        after: 'x = 2'
      },
      {
        path: 'a.ipynb',
        op: 'insert',
        cellId: 'one',
        index: 0,
        after: 'new'
      },
      { path: 'a.ipynb', op: 'delete', cellId: 'gone', index: 3, before: 'y' },
      { path: 'notes.md', op: 'write', before: 'a', after: 'b' }
    ];
    const documents = turnDiff(
      {
        turnId: 't',
        changes,
        diffs: [],
        states: ['open', 'kept', 'open', 'kept'],
        before: [
          before('two', code('two', '1', { tags: ['a'] })),
          before('one'),
          before('gone', code('gone', 'shown')),
          before('ran', code('ran', 'old')),
          before('same', code('same', 'same'))
        ]
      },
      new Map([
        [
          'a.ipynb',
          new Map([
            ['one', code('one', '')],
            ['two', code('two', '2')],
            ['ran', code('ran', 'new')],
            ['same', code('same', 'same')]
          ])
        ]
      ])
    );
    expect(documents).toMatchObject([
      {
        path: 'a.ipynb',
        cells: [
          { cellId: 'one', kind: 'added', number: 1, state: 'kept' },
          {
            cellId: 'two',
            kind: 'changed',
            number: 2,
            source: { before: 'x = 1', after: 'x = 2' },
            outputs: { before: '1', after: '2' },
            metadata: { before: expect.stringContaining('tags'), after: '' }
          },
          { cellId: 'ran', kind: 'ran', outputs: { before: 'old' } },
          {
            cellId: 'gone',
            kind: 'removed',
            number: 4,
            isThen: true,
            outputs: { before: 'shown', after: '' }
          }
        ]
      },
      { path: 'notes.md', cells: [], text: { before: 'a', after: 'b' } }
    ]);
    expect(countKinds(documents)).toBe(
      '1 changed, 1 added, 1 removed, 1 only run, 1 file changed'
    );
  });

  it('puts what was replaced next to what replaced it', () => {
    const long = 'p\nq\nr\ns\n';
    const rows = sideBySide(`${long}a\nb\nc`, `${long}a\nB\nB2\nc`);
    const line = (text: string, number: number) => ({ text, number });
    expect(rows).toEqual([
      { before: null, after: null, isSame: true },
      { before: line('s', 3), after: line('s', 3), isSame: true },
      { before: line('a', 4), after: line('a', 4), isSame: true },
      { before: line('b', 5), after: line('B', 5), isSame: false },
      { before: null, after: line('B2', 6), isSame: false },
      { before: line('c', 6), after: line('c', 7), isSame: true }
    ]);
  });
});
