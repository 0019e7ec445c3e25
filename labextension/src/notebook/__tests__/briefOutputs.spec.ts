import { ICell, IOutput } from '@jupyterlab/nbformat';

import { code, open } from './support';

const TRACE = ['Cell In[1], line 1', 'x'.repeat(30_000)];

function display(data: object): IOutput {
  return { output_type: 'display_data', data, metadata: {} } as IOutput;
}

function stream(text: string): IOutput {
  return { output_type: 'stream', name: 'stdout', text };
}

function failure(traceback: string[]): IOutput {
  return { output_type: 'error', ename: 'KeyError', evalue: "'a'", traceback };
}

function shows(id: string, ...outputs: IOutput[]): ICell {
  return { ...code(id, 'x'), outputs };
}

describe('briefOutputs', () => {
  it('has texts until they are long, no pictures, and every error', async () => {
    const notebook = await open([
      shows(
        'a',
        stream('y'.repeat(600)),
        display({ 'text/plain': 'z'.repeat(600), 'image/png': 'AAAA' }),
        stream('left out'),
        failure(TRACE.slice(0, 1))
      ),
      shows('b', failure(TRACE), display({ 'application/json': { k: [1] } })),
      code('c', '1')
    ]);
    const { cells } = notebook.reader.read(notebook.panel, undefined, 'brief');
    expect(cells[0].outputs).toEqual([
      stream('y'.repeat(600)),
      {
        output_type: 'display_data',
        data: { 'text/plain': 'z'.repeat(400), 'image/png': '' }
      },
      failure(TRACE.slice(0, 1))
    ]);
    expect(cells[1].outputs).toEqual([
      failure([]),
      { output_type: 'display_data', data: { 'application/json': { k: [1] } } }
    ]);
    expect(cells[2].outputs).toBeUndefined();
    notebook.close();
  });

  it('has only errors, and what is selected, of many cells', async () => {
    const cells = Array.from({ length: 151 }, (_, n) =>
      shows(`c${n}`, stream('printed'), failure(TRACE.slice(0, 1)))
    );
    const notebook = await open(cells);
    notebook.panel.content.activeCellIndex = 4;
    const read = notebook.reader.read(notebook.panel, undefined, 'brief');
    expect(read.cells[3].outputs).toEqual([failure([])]);
    expect(read.cells[4].outputs).toEqual([
      stream('printed'),
      failure(TRACE.slice(0, 1))
    ]);
    expect(
      notebook.reader.read(notebook.panel).cells[4].outputs
    ).toBeUndefined();
    notebook.close();
  });
});
