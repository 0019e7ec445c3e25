import type { YNotebook } from '@jupyter/ydoc';

import { findAgain, presentId } from '../cellNames';

let loads = 0;

/** The cells as a page has them that loads a file without ids. */
function load(...sources: string[]): YNotebook['cells'] {
  loads++;
  return sources.map((source, place) => ({
    getId: () => `load${loads}-${place}`,
    getSource: () => source
  })) as unknown as YNotebook['cells'];
}

function placesOf(notebook: { cells: YNotebook['cells'] }, ...ids: string[]) {
  const present = notebook.cells.map(cell => cell.getId());
  return ids.map(id => present.indexOf(presentId(notebook, id)));
}

const change = (cellId: string, source: string | null, index: number) => ({
  cellId,
  source,
  index
});

it('cells of the same source are told apart by their place, each once', () => {
  const notebook = { cells: load('', 'x', '', 'a\r\nb', '') };
  findAgain(notebook, [
    change('last', '', 4),
    change('first', '', 0),
    change('lines', 'a\nb', 3),
    change('changed', 'y', 1),
    change('unknown', null, 1)
  ]);
  expect(
    placesOf(notebook, 'last', 'first', 'lines', 'changed', 'unknown')
  ).toEqual([4, 0, 3, -1, -1]);
});

it('they are found in the notebook that is loaded again', () => {
  const notebook = { cells: load('a', 'b') };
  const recorded = [change('b', 'b', 1)];
  findAgain(notebook, recorded);
  notebook.cells = load('new', 'a', 'b');
  findAgain(notebook, recorded);
  expect(placesOf(notebook, 'b')).toEqual([2]);
});

it('one that the user deletes is not another one with the same source', () => {
  const notebook = { cells: load('x', 'x', 'y') };
  const own = notebook.cells[2].getId();
  const recorded = [change('x', 'x', 0), change(own, 'x', 2)];
  findAgain(notebook, recorded);
  const [deleted, other, third] = notebook.cells;
  notebook.cells = [other];
  findAgain(notebook, recorded);
  expect(placesOf(notebook, 'x', own)).toEqual([-1, -1]);
  // Undone, they are there again.
  notebook.cells = [deleted, other, third];
  findAgain(notebook, recorded);
  expect(placesOf(notebook, 'x', own)).toEqual([0, 2]);
});

it('takes no longer for a cell where many have changed', () => {
  const readings = (count: number) => {
    let read = 0;
    const cells = load(...Array.from({ length: count }, () => 'x'));
    cells.forEach(cell => {
      cell.getSource = () => (read++, 'x');
    });
    findAgain(
      { cells },
      cells.map((_, place) => change(`old${place}`, 'x', place))
    );
    return read;
  };
  expect(readings(40)).toBe(40);
});
