import { Change } from '../../api/types';
import { changeLabel, changeCountLabel, mergeChanges } from '../changes';

const change = (fields: Partial<Change>): Change => ({
  path: 'a.ipynb',
  op: 'update',
  cellId: 'x',
  index: 3,
  ...fields
});

describe('several changes of a cell', () => {
  it('are one, from the first source to the last', () => {
    expect(
      mergeChanges([
        change({ before: 'a', after: 'b' }),
        change({ before: 'b', after: 'c' })
      ])
    ).toEqual([change({ before: 'a', after: 'c' })]);
  });

  it('stay an addition where the cell is new', () => {
    const [merged] = mergeChanges([
      change({ op: 'insert', after: 'a' }),
      change({ before: 'a', after: 'b' })
    ]);
    expect(merged).toMatchObject({ op: 'insert', after: 'b' });
    expect(merged.before).toBeUndefined();
  });

  it('are none where a cell was added and removed, or is as it was', () => {
    expect(
      mergeChanges([
        change({ op: 'insert', after: 'a' }),
        change({ op: 'delete', before: 'a' }),
        change({ cellId: 'y', before: 'a', after: 'b' }),
        change({ cellId: 'y', before: 'b', after: 'a' })
      ])
    ).toEqual([]);
  });

  it('remember what a removed cell was before all changes', () => {
    expect(
      mergeChanges([
        change({ before: 'a', after: 'b' }),
        change({ op: 'delete', before: 'b' })
      ])
    ).toMatchObject([{ op: 'delete', before: 'a' }]);
  });
});

describe('words for changes', () => {
  it('count cells and files', () => {
    expect(changeCountLabel([change({})])).toBe('1 cell changed');
    expect(
      changeCountLabel([change({}), change({ cellId: 'y' }), { path: 'a.py' }])
    ).toBe('2 cells and 1 file changed');
    expect(
      changeCountLabel([
        { path: 'report.dlex' },
        { path: 'a.py' },
        { path: 'b.lexical' }
      ])
    ).toBe('2 documents and 1 file changed');
    expect(
      changeCountLabel([change({}), { path: 'report.dlex' }, { path: 'a.py' }])
    ).toBe('1 cell, 1 document and 1 file changed');
  });

  it('count cells from one', () => {
    expect(changeLabel(change({}))).toBe('Changed cell 4');
    expect(changeLabel(change({ op: 'delete' }), true)).toBe('Remove cell 4');
    expect(changeLabel({ path: 'a.py', op: 'create' })).toBe('Created a.py');
  });
});
