import type { ICell } from '@jupyterlab/nbformat';
import { Signal } from '@lumino/signaling';

import type { Change } from '../../api/types';
import { DiffModel, IDiffModelOptions, IReadNotebook } from '../diffModel';

/** A notebook that names its cells by their places, as a page or a closed file does without ids. */
function read(nbformat_minor: number, ...sources: string[]): IReadNotebook {
  const named = sources.map((source, place) => ({
    getId: () => `now${place}`,
    getSource: () => source
  }));
  return {
    notebook: { nbformat: 4, nbformat_minor, cells: named },
    cells: sources.map(
      source =>
        ({ cell_type: 'code', source, metadata: {} }) as unknown as ICell
    ),
    mimeType: 'text/x-python'
  };
}

async function numbersIn(
  path: string,
  changes: Partial<Change>[],
  notebook: IReadNotebook
): Promise<unknown[]> {
  const source = {
    client: {
      turnChanges: async () => ({
        turnId: 't',
        diffs: [],
        changes: changes.map(each => ({ ...each, path }))
      }),
      getTurn: async () => ({ turn: { message: 'Do it' } })
    }
  };
  const pending = {
    changed: new Signal<object, void>({}),
    session: () => null
  };
  const model = new DiffModel({
    source,
    pending,
    sessionId: 's',
    turnId: 't',
    read: async () => notebook,
    mimeTypeOf: () => '',
    colour: null
  } as unknown as IDiffModelOptions);
  await model.load();
  const [document] = model.shown.current.documents!;
  model.dispose();
  return document.cells.map(({ cellId, number, isThen }) => [
    cellId,
    number,
    isThen ?? false
  ]);
}

const CHANGES: Partial<Change>[] = [
  { op: 'update', cellId: 'a', index: 0, before: 'x', after: 'y' },
  { op: 'update', cellId: 'b', index: 1, before: 'x', after: 'gone' }
];

it.each([
  ['a.ipynb', 4],
  ['a.py', 5]
])(
  'cells of %s, which has no ids, have the numbers that they have now',
  async (path, minor) => {
    const notebook = read(minor, 'new', 'y', 'z');
    expect(await numbersIn(path, CHANGES, notebook)).toEqual([
      ['a', 2, false],
      // Changed since: it is the number that the turn left it with.
      ['b', 2, true]
    ]);
  }
);

it('cells of a notebook with ids are known by them only', async () => {
  const notebook = read(5, 'new', 'y', 'z');
  const numbers = await numbersIn('a.ipynb', CHANGES, notebook);
  expect(numbers).toEqual([
    ['a', 1, true],
    ['b', 2, true]
  ]);
});
