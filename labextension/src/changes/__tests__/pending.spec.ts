import { Change } from '../../api/types';
import { pendingLabel, cellIdsOf, IOpenTurn, pendingIn } from '../pending';
import { ChangesController } from '../../panel/changes/changesController';
import { ConversationStore } from '../../session/store';
import { NOTHING_DECIDED, emptyTurn } from '../../session/turn';

const HERE = 'cars.ipynb';

const change = (
  cellId: string | undefined,
  op: Change['op'] = 'update',
  path = HERE
): Change => ({ path, op, cellId, before: 'old', after: 'new' });

function turn(id: string, ...changes: Change[]): IOpenTurn {
  return {
    turn: { ...emptyTurn(id), changes },
    session: {
      sessionId: 's',
      store: new ConversationStore(),
      decider: new ChangesController(async () => undefined, jest.fn())
    }
  };
}

describe('what waits for a decision in a notebook', () => {
  it('is what its turns changed there, the newest first', () => {
    const open = [
      turn('new', change('a'), change('x', 'update', 'other.ipynb')),
      turn('elsewhere', change('y', 'insert', 'other.ipynb')),
      turn('old', change('b', 'insert'), change('c', 'move'))
    ];
    const pending = pendingIn(open, HERE);
    expect(pending.turns.map(({ turnId }) => turnId)).toEqual(['new', 'old']);
    expect([...pending.cells]).toEqual([
      ['a', 'update'],
      ['b', 'insert'],
      ['c', 'move']
    ]);
    // A decision here is none on the other notebook.
    expect(pending.turns.map(cellIdsOf)).toEqual([['a'], undefined]);
    expect(pendingIn(open, 'third.ipynb').turns).toEqual([]);
  });

  it('marks a new cell as new when a later turn changes it, and none that was removed', () => {
    const { cells } = pendingIn(
      [
        turn('new', change('a'), change('b', 'delete')),
        turn('old', change('a', 'insert'), change('b'))
      ],
      HERE
    );
    expect([...cells]).toEqual([['a', 'insert']]);
  });

  it('leaves out what was kept', () => {
    const open = turn('t', change('a'), change('b'));
    const decided = { ...NOTHING_DECIDED, cells: new Set(['a']) };
    const kept = { ...open, turn: { ...open.turn, decided } };
    expect([...pendingIn([kept], HERE).cells.keys()]).toEqual(['b']);
  });

  it.each([
    [[turn('1', change('a'))], '1 cell changed', ''],
    [
      [turn('2', change('a')), turn('1', change('b'), change('c'))],
      '1 cell changed',
      '2 earlier'
    ],
    [[turn('1', change(undefined, 'create'))], 'Notebook created', '']
  ])('is described (%#)', (open, count, more) => {
    expect(pendingLabel(pendingIn(open, HERE))).toEqual({ count, more });
  });
});
