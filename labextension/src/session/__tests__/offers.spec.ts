import { FixInfo } from '../../api/types';
import { fixSteps, fixLabel, offersAfter } from '../offers';
import { STARTED, turnAfter } from './events';

const FIX: FixInfo = {
  id: 'column',
  title: "Use the column 'Horsepower' instead of 'Horsepowr'",
  explanation: 'There is no such column.',
  safe: true,
  label:
    "Use the column 'Horsepower' instead of 'Horsepowr' and run the cell again",
  calls: [
    {
      name: 'updateNotebookCell',
      label: 'Change the cell and run it',
      arguments: { cellId: 'c1', content: 'cars["Horsepower"]', run: true }
    }
  ]
};

const offered = (cellId: string, fixes: FixInfo[]) => ({
  type: 'fixes_offered' as const,
  seq: 1,
  at: 1,
  path: 'cars.ipynb',
  cellId,
  fixes
});

describe('offered fixes', () => {
  it('are kept by cell, the newest of each', () => {
    const once = offersAfter([], offered('c1', [FIX]));
    const twice = offersAfter(once, offered('c2', [FIX]));
    expect(twice.map(({ cellId }) => cellId)).toEqual(['c1', 'c2']);
    expect(offersAfter(twice, offered('c1', []))).toEqual([twice[1]]);
  });

  it('belong to their turn', () => {
    const turn = turnAfter(STARTED, offered('c1', [FIX]));
    expect(turn.offers).toMatchObject([{ cellId: 'c1', fixes: [FIX] }]);
  });

  it('say what is done, and that the cell runs again', () => {
    expect(fixLabel(FIX)).toBe(FIX.label);
    expect(fixSteps(FIX)).toEqual([
      { what: 'Change the cell and run it', code: 'cars["Horsepower"]' }
    ]);
    // As it was stored before the server said so.
    const before = { ...FIX, label: undefined };
    const [{ name, arguments: given }] = FIX.calls;
    expect(fixLabel(before)).toBe(FIX.title);
    expect(
      fixSteps({ ...before, calls: [{ name, arguments: given }] })
    ).toEqual([{ what: 'Update notebook cell', code: 'cars["Horsepower"]' }]);
  });
});
