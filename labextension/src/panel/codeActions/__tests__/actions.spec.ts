import { IFencedBlock } from '../../../proposals';
import { ICellPlace, IPlaces, planOf } from '../actions';
import { CodeActionKind } from '../../../ui/codeRow';

const cell = (number: number, more: Partial<ICellPlace> = {}): ICellPlace => ({
  path: 'work/cars.ipynb',
  cellId: `c${number}`,
  number,
  isReadOnly: false,
  isLocked: false,
  ...more
});

const places = (
  cells: ICellPlace[],
  active: ICellPlace | null = null
): IPlaces => ({
  active,
  find: id => cells.find(({ cellId }) => cellId === id) ?? null,
  isOpen: path => cells.some(each => each.path === path)
});

const block = (target: IFencedBlock['target']): IFencedBlock => ({
  language: 'python',
  source: 'x',
  target,
  isComplete: true
});

const FOR_THREE = block({ kind: 'cell', cellId: 'c3' });

const actions = (plan: ReturnType<typeof planOf>) =>
  Object.fromEntries(plan.actions.map(each => [each.act, each])) as Record<
    CodeActionKind,
    (typeof plan.actions)[number]
  >;

it('names the tagged cell in everything that acts on it', () => {
  const plan = planOf(FOR_THREE, places([cell(3)], cell(1)));
  expect(plan.title).toBe('Cell 3');
  expect(plan.actions.map(({ label }) => label)).toEqual([
    'Apply to cell 3 of cars.ipynb, as a diff',
    'Insert above cell 3 of cars.ipynb',
    'Insert below cell 3 of cars.ipynb',
    'Replace cell 3 of cars.ipynb'
  ]);
  expect(plan.actions.every(({ reason }) => reason === null)).toBe(true);
});

it('means the active cell where nothing is tagged, and has no Apply there', () => {
  const plan = planOf(block(null), places([], cell(1)));
  expect(plan.actions.map(({ act, cellId }) => [act, cellId])).toEqual([
    ['above', 'c1'],
    ['below', 'c1'],
    ['replace', 'c1']
  ]);
  const none = actions(planOf(block(null), places([])));
  expect(none.below.reason).toBe('No active notebook.');
});

it('offers to open the notebook of an answer, and says that a cell is gone', () => {
  const closed = actions(planOf(FOR_THREE, places([]), 'work/cars.ipynb'));
  expect(closed.apply).toMatchObject({
    label: 'Open cars.ipynb and apply to its cell, as a diff',
    reason: null,
    path: 'work/cars.ipynb',
    cellId: 'c3'
  });
  const gone = actions(
    planOf(FOR_THREE, places([cell(1)], cell(1)), 'work/cars.ipynb')
  );
  expect(gone.apply.reason).toBe('The target cell no longer exists.');
  expect(gone.replace.reason).toBe('The target cell no longer exists.');
  expect(gone.below).toMatchObject({ reason: null, cellId: 'c1' });
});

it('changes nothing that is read-only or locked, and applies no half of a source', () => {
  const readOnly = planOf(FOR_THREE, places([cell(3, { isReadOnly: true })]));
  expect(readOnly.actions.map(({ reason }) => reason)).toEqual(
    Array(4).fill('cars.ipynb is read-only.')
  );
  const locked = actions(
    planOf(FOR_THREE, places([cell(3, { isLocked: true })]))
  );
  expect(locked.apply.reason).toBe('Cell 3 is not editable.');
  expect(locked.replace.reason).toBe('Cell 3 is not editable.');
  expect(locked.below.reason).toBeNull();
  const half = { ...FOR_THREE, isComplete: false };
  expect(actions(planOf(half, places([cell(3)]))).apply.reason).toMatch(
    'cut off'
  );
});

it('applies to a file, and to a notebook only cell by cell', () => {
  const file = actions(
    planOf(block({ kind: 'file', path: './lib/util.py' }), places([], cell(1)))
  );
  expect(file.apply).toMatchObject({ path: 'lib/util.py', reason: null });
  expect(file.replace.label).toBe('Replace the text of util.py');
  expect(file.below.label).toBe('Insert below cell 1 of cars.ipynb');
  const notebook = actions(
    planOf(block({ kind: 'file', path: 'a.ipynb' }), places([]))
  );
  expect(notebook.apply.reason).toBe('Notebooks are edited cell by cell.');
});
