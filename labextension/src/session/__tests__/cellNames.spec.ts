import { idLabel, nameCells } from '../cellNames';
import { pretty } from '../../ui/pretty';

const labels: Record<string, { number: number; firstLine: string }> = {
  c4: { number: 4, firstLine: 'cars.head()' },
  c5: { number: 5, firstLine: '' }
};
const labelOf = (id: string) => labels[id] ?? null;

describe('cells in what a tool took and gave', () => {
  it('are named by number and first line, wherever their ids stand', () => {
    const { value, ids } = nameCells(
      {
        cellIds: ['c4', 'gone'],
        position: { after: 'c5' },
        content: 'c4'
      },
      labelOf
    );
    expect(value).toEqual({
      cells: ['cell 4 · cars.head()', 'gone'],
      position: { after: 'cell 5' },
      content: 'c4'
    });
    expect(idLabel(ids)).toBe('Cell 4 has the id c4\nCell 5 has the id c5');
  });

  it('are named in outputs, which come as JSON', () => {
    const { value } = nameCells(
      '{"cells": [{"id": "c4", "index": 3}]}',
      labelOf
    );
    expect(pretty(value)).toContain('cell: cell 4 · cars.head()');
  });

  it('keep their ids where the notebook has them no more', () => {
    expect(nameCells({ cellId: 'gone' }, labelOf).value).toEqual({
      cellId: 'gone'
    });
    expect(nameCells('plain words', labelOf).value).toBe('plain words');
  });
});
