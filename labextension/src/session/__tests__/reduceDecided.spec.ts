import { Change, UndoConflict } from '../../api/types';
import { EventInput } from '../../panel/__tests__/fakes';
import { openChanges } from '../reduceDecided';
import { ConversationStore } from '../store';
import { undoneLabel } from '../undoLabels';
import { STARTED, numbered, turnAfter } from './events';

const change = (cellId: string): Change => ({
  path: 'a.ipynb',
  op: 'update',
  cellId,
  before: 'old',
  after: 'new'
});
const changed = (...ids: string[]): EventInput => ({
  type: 'document_changed',
  path: 'a.ipynb',
  changes: ids.map(change)
});
const undone = (
  fields: { cellIds?: string[]; conflicts?: UndoConflict[] } = {}
): EventInput => ({
  type: 'changes_undone',
  ofTurnId: 'turn_1',
  changes: [change('a')],
  conflicts: [],
  ...fields
});
const CONFLICT: UndoConflict = {
  path: 'a.ipynb',
  cellId: 'b',
  before: 'old',
  after: 'new',
  now: 'mine'
};
const kept = (...cellIds: string[]): EventInput => ({
  type: 'changes_kept',
  ofTurnId: 'turn_1',
  cellIds: cellIds.length ? cellIds : undefined
});
const idsOf = (...events: EventInput[]) =>
  openChanges(turnAfter(STARTED, changed('a', 'b'), ...events)).map(
    ({ cellId }) => cellId
  );

describe('what is to be decided on a turn', () => {
  it('is all that changed until it is kept or taken back, cell by cell or as a whole', () => {
    expect(idsOf()).toEqual(['a', 'b']);
    expect(idsOf(kept('a'))).toEqual(['b']);
    expect(idsOf(kept('a'), undone({ cellIds: ['b'] }))).toEqual([]);
    expect(idsOf(undone())).toEqual([]);
    expect(idsOf(kept())).toEqual([]);
  });

  it('is a conflict until the user answers it, either way', () => {
    const asked = undone({ cellIds: ['a'], conflicts: [CONFLICT] });
    const conflicts = (...events: EventInput[]) =>
      turnAfter(STARTED, changed('a', 'b'), ...events).conflicts;
    expect(idsOf(asked)).toEqual(['b']);
    expect(conflicts(asked)).toEqual([CONFLICT]);
    expect(conflicts(asked, kept('b'))).toEqual([]);
    expect(conflicts(asked, undone({ cellIds: ['b'] }))).toEqual([]);
    // Tried once more, it is there once.
    const again = { ...CONFLICT, now: 'mine, later' };
    expect(
      conflicts(asked, undone({ cellIds: [], conflicts: [again] }))
    ).toEqual([again]);
  });

  it('is each file by its path', () => {
    const files: EventInput = {
      type: 'document_changed',
      path: 'a.py',
      changes: [
        { path: 'a.py', op: 'update', before: 'x', after: 'y' },
        { path: 'b.py', op: 'create', after: 'z' }
      ]
    };
    const after = (...events: EventInput[]) =>
      turnAfter(STARTED, files, changed('a'), ...events);
    const pathsOf = (...events: EventInput[]) =>
      openChanges(after(...events)).map(({ path }) => path);
    expect(pathsOf()).toEqual(['a.py', 'b.py', 'a.ipynb']);
    const keptFile: EventInput = {
      type: 'changes_kept',
      ofTurnId: 'turn_1',
      cellIds: [],
      files: ['a.py']
    };
    expect(pathsOf(keptFile)).toEqual(['b.py', 'a.ipynb']);
    const conflict = { path: 'b.py', cellId: '', now: 'mine' };
    const asked = undone({ cellIds: [], conflicts: [conflict] });
    expect(after(asked).conflicts).toEqual([conflict]);
    const answer: EventInput = { ...keptFile, files: ['b.py'] };
    expect(after(asked, answer).conflicts).toEqual([]);
    expect(pathsOf(asked, answer)).toEqual(['a.py', 'a.ipynb']);
  });

  it('is without a file that an older server says is gone', () => {
    const made: EventInput = {
      type: 'document_changed',
      path: 'b.py',
      changes: [{ path: 'b.py', op: 'create', after: 'z' }]
    };
    const gone: EventInput = {
      type: 'changes_undone',
      ofTurnId: 'turn_1',
      changes: [{ path: 'b.py', op: 'delete' }],
      conflicts: [CONFLICT],
      cellIds: ['a']
    };
    const open = openChanges(turnAfter(STARTED, made, changed('a', 'b'), gone));
    expect(open.map(({ path }) => path)).toEqual(['a.ipynb']);
  });

  it('is the same when its events come twice, after a reload', () => {
    const [begin, change, back] = numbered([
      STARTED,
      changed('a', 'b'),
      undone()
    ]);
    const store = new ConversationStore();
    [begin, change, back].forEach(event => store.apply(event));
    const entries = store.turn('turn_1').current.entries.length;
    const other = new ConversationStore();
    [begin, change, back, { ...back, seq: 0 }].forEach(event =>
      other.apply(event)
    );
    expect(entries).toBe(1);
    expect(other.undecided.current).toBeUndefined();
  });

  it('is known of the newest turn that has something open', () => {
    const store = new ConversationStore();
    const of = (turnId: string, ...events: EventInput[]) =>
      events.map(event => ({ ...event, turnId }));
    numbered([
      ...of('turn_1', STARTED, changed('a')),
      ...of('turn_2', STARTED, changed('b'))
    ]).forEach(event => store.apply(event));
    expect(store.undecided.current).toBe('turn_2');
    store.apply({ ...numbered([kept()], 9)[0], turnId: 'turn_2' });
    expect(store.undecided.current).toBe('turn_1');
  });

  it('leaves out files that were only edited, which cannot be taken back here', () => {
    const file: EventInput = {
      type: 'document_changed',
      path: 'a.py',
      changes: [{ path: 'a.py', op: 'write', before: 'a', after: 'b' }]
    };
    expect(openChanges(turnAfter(STARTED, file))).toEqual([]);
  });
});

describe('the label after an undo', () => {
  const UNDONE = { kind: 'undone', id: 'u', changes: [], left: 0 } as const;

  it('say what was restored, and that variables stay', () => {
    const label = undoneLabel({
      ...UNDONE,
      changes: [
        change('a'),
        change('b'),
        { path: 'a.ipynb', op: 'delete', cellId: 'c' },
        { path: 'b.ipynb', op: 'delete' }
      ],
      note: 'Variables remain'
    });
    expect(label).toBe(
      'Undone: restored 2 cells, removed 1 cell, deleted b.ipynb. Variables remain'
    );
  });

  it('do not claim that something was restored where nothing had to be', () => {
    expect(undoneLabel(UNDONE)).toContain('already as it was');
    expect(undoneLabel({ ...UNDONE, left: 1 })).toBe('');
  });
});
