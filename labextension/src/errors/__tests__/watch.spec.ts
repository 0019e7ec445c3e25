import { YCodeCell } from '@jupyter/ydoc';
import { CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import { Context } from '@jupyterlab/docregistry';
import { INotebookModel } from '@jupyterlab/notebook';
import { NBTestUtils } from '@jupyterlab/notebook/lib/testutils';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { IErrorActions, watchErrors } from '../watch';
import { until } from '../../api/__tests__/support';
import {
  code,
  IOpenNotebook,
  markdown,
  open
} from '../../notebook/__tests__/support';

let notebook: IOpenNotebook;
let actions: jest.Mocked<IErrorActions>;

beforeEach(async () => {
  notebook = await open([code('a', '1 / 0')]);
  actions = {
    fix: jest.fn(),
    explain: jest.fn(),
    hint: jest.fn().mockResolvedValue('')
  };
});

afterEach(() => notebook.close());

/** The cell's run fails, otherwise than before. */
function fail(message: string): void {
  const model = notebook.panel.model!.cells.get(0) as ICodeCellModel;
  model.outputs.clear();
  model.outputs.add({
    output_type: 'error',
    ename: 'ZeroDivisionError',
    evalue: message,
    traceback: []
  });
}

/** Each is a whole notebook, which takes a busy machine most of a second. */
const VIEWS = 3;

function bars(panel: Widget): number {
  return panel.node.querySelectorAll('.da-error-bar').length;
}

it('a closed second view of a notebook hears no more of its cells', async () => {
  watchErrors(notebook.panel, actions);
  fail('first');
  await until(() => bars(notebook.panel) === 1);
  const signal = (notebook.panel.model!.cells.get(0) as ICodeCellModel).outputs
    .changed;
  const connect = jest.spyOn(signal, 'connect');
  const disconnect = jest.spyOn(signal, 'disconnect');
  const list = notebook.panel.model!.cells.changed;
  const follow = jest.spyOn(list, 'connect');
  const leave = jest.spyOn(list, 'disconnect');
  const context = notebook.panel.context as Context<INotebookModel>;
  for (let count = 0; count < VIEWS; count++) {
    const view = NBTestUtils.createNotebookPanel(context);
    Widget.attach(view, document.body);
    MessageLoop.flush();
    watchErrors(view, actions);
    await until(() => bars(view) === 1);
    view.content.dispose();
  }
  const ours = (calls: unknown[][]) =>
    calls.filter(([, receiver]) => receiver?.constructor.name === 'CellErrors')
      .length;
  expect(ours(connect.mock.calls)).toBe(VIEWS);
  expect(ours(disconnect.mock.calls)).toBe(VIEWS);
  const left = leave.mock.calls.map(([slot]) => slot as unknown);
  const soon = follow.mock.calls.filter(([slot]) => slot.name === 'soon');
  expect(soon).toHaveLength(VIEWS);
  expect(soon.every(([slot]) => left.includes(slot))).toBe(true);
  const bar = notebook.panel.node.querySelector('.da-error-bar');
  fail('second');
  await until(() => !bar!.isConnected && bars(notebook.panel) === 1);
});

const ERROR = {
  output_type: 'error',
  ename: 'KeyError',
  evalue: 'why',
  traceback: []
};

describe('the errors of a notebook of many cells', () => {
  let notebook: IOpenNotebook;

  beforeEach(async () => {
    const cells = Array.from({ length: 20 }, (_, at) => code(`c${at}`, '1'));
    notebook = await open([...cells, markdown('m', 'text')]);
    watchErrors(notebook.panel, actions);
    await settled();
  });

  afterEach(() => notebook.close());

  const settled = () => new Promise(resolve => setTimeout(resolve));

  function shared(id: string): YCodeCell {
    const { cells } = notebook.panel.model!.sharedModel;
    return cells.find(cell => cell.getId() === id) as YCodeCell;
  }

  function failedCells(): string[] {
    return notebook.panel.content.widgets
      .filter(cell => cell.hasClass('da-mod-failed'))
      .map(({ model }) => model.id);
  }

  it('are seen as they come and go, in cells that were there and in new ones', async () => {
    const { sharedModel } = notebook.panel.model!;
    shared('c3').setOutputs([ERROR]);
    sharedModel.insertCell(2, { id: 'new', cell_type: 'code', source: '2' });
    await settled();
    expect(failedCells()).toEqual(['c3']);
    shared('new').setOutputs([ERROR]);
    await settled();
    expect(failedCells()).toEqual(['new', 'c3']);
    sharedModel.moveCell(2, 8);
    shared('c3').setOutputs([]);
    await settled();
    expect(failedCells()).toEqual(['new']);
    sharedModel.insertCell(0, {
      id: 'failed',
      cell_type: 'code',
      source: '3',
      outputs: [ERROR]
    });
    await settled();
    expect(failedCells()).toEqual(['failed', 'new']);
  });

  it('cost no look at the cells while the user types or a cell prints', async () => {
    const { content } = notebook.panel;
    const { widgets } = content;
    let looks = 0;
    Object.defineProperty(content, 'widgets', {
      get: () => {
        looks++;
        return widgets;
      }
    });
    for (const letter of 'print("Hello")') {
      shared('c1').updateSource(1, 1, letter);
      await settled();
    }
    (widgets[2] as CodeCell).model.outputs.add({
      output_type: 'stream',
      name: 'stdout',
      text: 'line\n'
    });
    await settled();
    expect(looks).toBe(0);
  });
});
