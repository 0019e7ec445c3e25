import { YCodeCell } from '@jupyter/ydoc';
import { INotebookContent } from '@jupyterlab/nbformat';
import { NotebookModel } from '@jupyterlab/notebook';

import { code, markdown } from './support';
import { DocumentHints, notebookHints, unusedFrame } from '../hints';

const CELLS = 1_000;

function modelOf(cells: INotebookContent['cells']): NotebookModel {
  const model = new NotebookModel();
  model.fromJSON({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
  return model;
}

function failed(id: string, ename: string, source = '1 / 0') {
  const error = {
    output_type: 'error',
    ename,
    evalue: 'why',
    traceback: []
  };
  return { ...code(id, source), outputs: [error] };
}

describe('what of a notebook is worth a suggestion', () => {
  it('is its first errors, a frame that nothing looks at, and whether it is empty', () => {
    const hints = new DocumentHints(notebookHints);
    const model = modelOf([
      code('a', 'cars = pd.read_csv("cars.csv")'),
      failed('b', 'KeyboardInterrupt'),
      failed('c', 'KeyError', 'cars["x"]'),
      code('d', 'df = pl.read_csv("a.csv")\ndf.head()'),
      failed('e', 'AgentMagicError'),
      failed('f', 'NameError'),
      markdown('m', 'df2 = pd.read_csv("b.csv")'),
      failed('g', 'TypeError'),
      failed('h', 'ValueError')
    ]);
    expect(hints.of(model)).toEqual({
      isEmpty: false,
      errors: [
        {
          number: 3,
          name: 'KeyError',
          cellId: 'c',
          text: 'KeyError: why\ncars["x"]'
        },
        {
          number: 6,
          name: 'NameError',
          cellId: 'f',
          text: 'NameError: why\n1 / 0'
        },
        {
          number: 8,
          name: 'TypeError',
          cellId: 'g',
          text: 'TypeError: why\n1 / 0'
        }
      ],
      frame: 'df'
    });
    expect(hints.of(modelOf([code('a', ' \n'), markdown('m', '')]))).toEqual({
      isEmpty: true,
      errors: [],
      frame: undefined
    });
  });

  it('is looked for once, and again when a source, an output or the list of cells has changed', () => {
    const hints = new DocumentHints(notebookHints);
    const model = modelOf([code('a', 'x = 1'), code('b', 'y = 2')]);
    const first = hints.of(model);
    expect(hints.of(model)).toBe(first);
    const { cells } = model.sharedModel;
    cells[0].setSource('df = pd.read_csv("a.csv")');
    expect(hints.of(model).frame).toBe('df');
    cells[1].setSource('df.head()');
    expect(hints.of(model).frame).toBeUndefined();
    model.sharedModel.deleteCell(1);
    expect(hints.of(model).frame).toBe('df');
    const [error] = failed('x', 'KeyError').outputs;
    (cells[0] as YCodeCell).setOutputs([error]);
    expect(hints.of(model).errors).toHaveLength(1);
    (cells[0] as YCodeCell).setOutputs([]);
    expect(hints.of(model).errors).toEqual([]);
  });

  it('costs one reading of each cell, and none where nothing has changed', () => {
    const cells = Array.from({ length: CELLS }, (_, index) =>
      index % 100 === 50
        ? failed(`c${index}`, 'KeyError')
        : code(
            `c${index}`,
            `df${index} = pd.read_csv("a.csv")\ndf${index - 1}.head()`.padEnd(
              400,
              '#'
            )
          )
    );
    const model = modelOf(cells);
    const hints = new DocumentHints(notebookHints);
    const reads = jest.spyOn(YCodeCell.prototype, 'getSource');
    const copies = jest.spyOn(YCodeCell.prototype, 'toJSON');
    const start = performance.now();
    hints.of(model);
    const took = performance.now() - start;
    // Those of the three errors are read once more, for their words.
    expect(reads.mock.calls.length).toBeLessThanOrEqual(CELLS + 6);
    expect(copies).toHaveBeenCalledTimes(3);
    reads.mockClear();
    copies.mockClear();
    hints.of(model);
    expect(reads).not.toHaveBeenCalled();
    expect(copies).not.toHaveBeenCalled();
    if (process.env.MEASURE === '1') {
      process.stderr.write(`hints of ${CELLS} cells: ${took.toFixed(1)} ms\n`);
    }
  });

  it('takes each source at most twice to find the frame, however many frames are loaded', () => {
    let taken = 0;
    const sources = new Proxy(
      Array.from(
        { length: CELLS },
        (_, index) => `d${index} = pd.read_csv("a")\nd${index + 1}`
      ),
      {
        get: (target, key, receiver) => {
          taken += typeof key === 'string' && /^\d+$/.test(key) ? 1 : 0;
          return Reflect.get(target, key, receiver) as unknown;
        }
      }
    );
    sources.push(
      Array.from({ length: CELLS }, (_, index) => `d${index}`).join(' ')
    );
    expect(unusedFrame(sources, () => true)).toBeUndefined();
    expect(taken).toBeLessThanOrEqual(2 * (CELLS + 1));
  });
});
