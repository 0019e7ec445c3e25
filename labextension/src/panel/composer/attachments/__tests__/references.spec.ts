import { InputModel } from '@jupyter/chat/lib/input-model';
import { Contents } from '@jupyterlab/services';

import { ChatRequest } from '../../../../api/types';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory
} from '../../../__tests__/fakes';
import { datasetOf } from '../../../datasets/__tests__/datasetSamples';
import { unmetRequirements } from '../../toolState';
import { PanelModel } from '../../../model';
import { ReferenceCommands } from '../../completion/referenceCommands';
import { IReference, matching, mentionsIn, toolsIn } from '../references';

const FILES = [
  { name: 'cars.csv', path: 'cars.csv', type: 'file' },
  { name: 'my notes.txt', path: 'my notes.txt', type: 'file' },
  { name: 'data', path: 'data', type: 'directory' }
];

function makeInput() {
  const client = new FakeClient();
  const editor = new FakeEditor();
  const connection = new FakeConnection();
  const model = new PanelModel({
    client,
    connection,
    editor,
    memory: new FakeMemory()
  });
  editor.listed = [
    { cellId: 'a', number: 1, firstLine: 'import pandas', hasOutput: false },
    { cellId: 'b', number: 2, firstLine: 'cars.head()', hasOutput: true }
  ];
  client.variablesReply = {
    status: 'ok',
    leftOut: 0,
    variables: [
      { name: 'cars', type: 'pandas.DataFrame', short: '', shape: [406, 9] },
      { name: 'total', type: 'int', short: '42' }
    ]
  };
  const contents = {
    get: async () => ({ type: 'directory', content: FILES })
  } as unknown as Contents.IManager;
  const commands = new ReferenceCommands(model, contents);
  const input = new InputModel({ onSend: () => undefined });
  commands.watch(input);
  const type = (text: string) => {
    input.value = text;
    input.cursorIndex = text.length;
  };
  const found = async (text: string) => {
    type(text);
    const list = await commands.listCommandCompletions(input);
    return list.map(({ name, description }) => [name, description]);
  };
  return { client, connection, editor, model, commands, input, type, found };
}

describe('what @ lists', () => {
  it('is cells, outputs, variables, data sets, notebooks and files', async () => {
    const { client, found } = makeInput();
    client.datasets = [datasetOf('sales')];
    expect((await found('Use @')).map(([name]) => name)).toEqual([
      '@cars.ipynb',
      '@cell:1',
      '@cell:2',
      '@var:cars',
      '@var:total',
      '@data:sales',
      '@cars.csv',
      '@my\\ notes.txt',
      '@output:2',
      '@data/'
    ]);
  });

  it('is found by the name alone, and says what it is', async () => {
    const { found } = makeInput();
    expect(await found('Use @tot')).toEqual([['@var:total', 'int · 42']]);
    expect((await found('Use @cars')).slice(0, 2)).toEqual([
      ['@cars.ipynb', 'active'],
      ['@var:cars', 'pandas.DataFrame · 406 × 9']
    ]);
    expect(await found('Use @cell:2')).toEqual([['@cell:2', 'cars.head()']]);
  });

  it('has the active notebook before the others that are open', async () => {
    const { editor, found } = makeInput();
    editor.openNotebooks = ['sales.ipynb', 'cars.ipynb'];
    expect((await found('Use @')).slice(0, 2)).toEqual([
      ['@cars.ipynb', 'active'],
      ['@sales.ipynb', 'open']
    ]);
  });

  it('says why variables are not known', async () => {
    const { client, found } = makeInput();
    const reason = 'The kernel is busy: its variables cannot be read now.';
    client.variablesReply = {
      status: 'busy',
      reason,
      variables: [],
      leftOut: 0
    };
    expect(await found('Use @var')).toEqual([['@var:', reason]]);
    expect(await found('Use @tot')).toEqual([]);
  });

  it('shows variables as they are now where they are asked for', async () => {
    const { client, model } = makeInput();
    const names = async (isNow?: boolean) =>
      (await model.references.variables(isNow)).map(({ label }) => label);
    const before = await names();
    expect(before).toHaveLength(2);
    client.variablesReply = { status: 'ok', leftOut: 0, variables: [] };
    expect(await names()).toEqual(before);
    expect(await names(true)).toEqual([]);
  });

  it('shows a few of each kind until something is typed', () => {
    const cells: IReference[] = [...Array(50).keys()].map(index => ({
      kind: 'cell',
      mention: `cell:${index + 1}`,
      label: `x = ${index}`
    }));
    expect(matching(cells, '')).toHaveLength(5);
    expect(matching(cells, 'cell:4').map(({ mention }) => mention)).toEqual(
      ['4', ...[...Array(10).keys()].map(digit => `4${digit}`)].map(
        number => `cell:${number}`
      )
    );
  });
});

describe('what was completed', () => {
  it('is attached when it is there, once', async () => {
    const { model, found, type } = makeInput();
    await found('Use @tot');
    expect(model.composerState.current.attachments).toEqual([]);
    type('Use @var:total ');
    const attached = [{ kind: 'variable', path: 'cars.ipynb', name: 'total' }];
    expect(model.composerState.current.attachments).toEqual(attached);
    model.composerState.detach(model.composerState.current.attachments[0]);
    type('Use @var:total now');
    expect(model.composerState.current.attachments).toEqual([]);
  });

  it('is attached at the end of a message that is sent', async () => {
    const { model, commands, input, found, type } = makeInput();
    await found('Use @my');
    type('Use @my\\ notes.txt.');
    await commands.onSubmit(input);
    expect(model.composerState.current.attachments).toEqual([
      { kind: 'file', path: 'my notes.txt' }
    ]);
  });
});

describe('what was typed whole', () => {
  const request = (connection: FakeConnection) =>
    (connection.ops.at(-1)!.op as { request: ChatRequest }).request;

  it('is attached when the message is sent', async () => {
    const { client, connection, model } = makeInput();
    client.datasets = [datasetOf('sales')];
    await model.start();
    await model.send('See @cell:1, @output:2 and @var:total. @data:sales?');
    expect(request(connection).attachments).toEqual([
      { kind: 'cell', path: 'cars.ipynb', cellId: 'a' },
      { kind: 'output', path: 'cars.ipynb', cellId: 'b' },
      { kind: 'variable', path: 'cars.ipynb', name: 'total' },
      { kind: 'dataset', name: 'sales' }
    ]);
    expect(model.notice.current).toBeNull();
  });

  it('is reported where it names nothing', async () => {
    const { connection, model } = makeInput();
    await model.start();
    await model.send('@cell:9 @output:1 @var:gone @data:none @dataclass a@b.c');
    expect(request(connection).attachments).toEqual([]);
    expect(model.notice.current?.message).toBe(
      'Not attached: @cell:9 (cars.ipynb has 2 cells), @output:1 (cell 1 has no output), ' +
        '@var:gone (no such variable in the kernel of cars.ipynb), ' +
        '@data:none (data set not found).'
    );
  });

  it('is not looked for in a kernel that works, and not attached again where its chip was removed', async () => {
    const { client, commands, connection, input, model, found, type } =
      makeInput();
    await model.start();
    await found('Use @tot');
    type('Use @var:total ');
    model.composerState.detach(model.composerState.current.attachments[0]);
    client.variablesReply = {
      status: 'busy',
      reason: 'It works.',
      variables: [],
      leftOut: 0
    };
    type('Use @var:total and @var:later');
    await commands.onSubmit(input);
    await model.send(input.value);
    expect(request(connection).attachments).toEqual([
      { kind: 'variable', path: 'cars.ipynb', name: 'later' }
    ]);
  });
});

describe('tools that are meant', () => {
  it('are in the request, and are not meant again', async () => {
    const { connection, model } = makeInput();
    await model.start();
    model.composerState.toggleTool('listDatasets');
    await model.send('Use #getNotebookCells, not issue#7 or # 3');
    expect(connection.ops[0].op).toMatchObject({
      request: { toolReferences: ['listDatasets', 'getNotebookCells'] }
    });
    expect(model.composerState.current.tools).toEqual([]);
  });

  it('are shown with what would make them possible', async () => {
    const { model } = makeInput();
    const tools = await model.references.tools();
    const names = ['run_notebook_cells', 'listDatasets', 'nothing'];
    expect(unmetRequirements(names, tools, 'ask')).toEqual([
      {
        name: 'runNotebookCells',
        reason: 'Agent mode only',
        remedy: 'mode'
      }
    ]);
  });
});

it('mentions and references are words of their own', () => {
  expect(mentionsIn('@a.txt, see @b\\ c.txt and me@x.org', false)).toEqual([
    'a.txt',
    'b c.txt'
  ]);
  expect(mentionsIn('see @a.txt and @b', true)).toEqual(['a.txt']);
  expect(toolsIn('#a_b and #c-d, c#d, #1')).toEqual(['a_b', 'c-d']);
});
