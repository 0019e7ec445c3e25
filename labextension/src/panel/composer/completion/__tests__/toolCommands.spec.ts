import { InputModel } from '@jupyter/chat/lib/input-model';
import {
  ChatCommand,
  ChatCommandRegistry,
  IChatCommandProvider
} from '@jupyter/chat/lib/registers/chat-commands';

import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory
} from '../../../__tests__/fakes';
import { tutorial } from '../../../__tests__/samples';
import { PanelModel } from '../../../model';
import { InputChatModel } from '../../chatModel';
import { CurrentCommands } from '../currentCommands';
import { ToolCommands } from '../toolCommands';
import { PanelCommands } from '../panelCommands';

function makeInput() {
  const client = new FakeClient();
  const connection = new FakeConnection();
  const model = new PanelModel({
    client,
    connection,
    editor: new FakeEditor(),
    memory: new FakeMemory()
  });
  const input = new InputModel({ onSend: () => undefined });
  const type = (text: string) => {
    input.value = text;
    input.cursorIndex = text.length;
  };
  return { client, connection, model, input, type };
}

function current(...providers: IChatCommandProvider[]): CurrentCommands {
  const commands = new CurrentCommands(new ChatCommandRegistry());
  providers.forEach(each => commands.addProvider(each));
  return commands;
}

/** Let all that is under way come to its end. */
const settle = () => new Promise(resolve => setTimeout(resolve));

describe('completions of tools', () => {
  it('have the label of a tool, or its first sentence, and why one cannot be used', async () => {
    const { model, input, type } = makeInput();
    const tools = new ToolCommands(model);
    type('Use #notebook');
    const found = await tools.listCommandCompletions(input);
    expect(found.map(({ name, description }) => [name, description])).toEqual([
      ['#getNotebookCells', 'Read cells'],
      ['#runNotebookCells', 'Run cells. · Agent mode only']
    ]);
  });

  it('that come late are about the text of then', async () => {
    const { model, client, input, type } = makeInput();
    const tools = current(new ToolCommands(model));
    const reply = await client.listTools();
    let answer = () => undefined as void;
    client.listTools = () =>
      new Promise(resolve => {
        answer = () => resolve(reply);
      });
    type('#get');
    const early = tools.listCommandCompletions(input);
    type('#list');
    answer();
    expect((await early).map(({ name }) => name)).toEqual(['#listDatasets']);

    type('#list');
    const sent = tools.listCommandCompletions(input);
    input.value = ''; // as a message that is sent does: the cursor follows later
    expect(await sent).toEqual([]);

    const { model: other, input: field, type: write } = makeInput();
    write('#get');
    const late = current(new ToolCommands(other)).listCommandCompletions(field);
    write('#get and');
    expect(await late).toEqual([]);
  });

  it('that come late for a word of another kind do not close the list', async () => {
    const { model, input, type } = makeInput();
    let answer = (_: ChatCommand[]) => undefined as void;
    const slow: IChatCommandProvider = {
      id: 'variables',
      listCommandCompletions: async ({ currentWord }) =>
        currentWord?.startsWith('@')
          ? new Promise(resolve => (answer = resolve))
          : [],
      onSubmit: async () => undefined
    };
    const failing: IChatCommandProvider = {
      id: 'failing',
      listCommandCompletions: () => Promise.reject(new Error('No answer.')),
      onSubmit: async () => undefined
    };
    const logged = jest.spyOn(console, 'error').mockImplementation();
    const commands = current(new ToolCommands(model), slow, failing);
    type('See @total');
    const late = commands.listCommandCompletions(input);
    type('See @total with #run');
    answer([{ name: '@total', providerId: 'variables' }]);
    expect((await late).map(({ name }) => name)).toEqual(['#runNotebookCells']);
    expect(logged).toHaveBeenCalledWith(
      'The completions of failing failed:',
      expect.any(Error)
    );
    logged.mockRestore();
  });
});

describe('the commands of the panel', () => {
  it('are done when they are all that is written', async () => {
    const { model, input, type } = makeInput();
    const commands = new PanelCommands(model);
    expect(commands.has(' /usage ')).toBe(true);
    expect(commands.has('/usage now')).toBe(false);
    type('/usage');
    await commands.onSubmit(input);
    expect(input.value).toBe('');
    expect(model.toolsPanel.card.current).toEqual({ kind: 'usage' });
  });

  it('are listed with the help, which the server answers', async () => {
    const { model, input, type } = makeInput();
    const commands = new PanelCommands(model);
    expect(commands.has('/help')).toBe(true);
    expect(commands.does('/help')).toBe(false);
    type('/help');
    await commands.onSubmit(input);
    expect(input.value).toBe('/help');
    expect(commands.list).toContainEqual({
      name: '/export',
      description: 'Export this session to a file',
      takes: true
    });
  });

  it('that take nothing more are not sent; unknown ones the server answers, without a model', async () => {
    const { client, connection, model } = makeInput();
    client.modelsReply = { ...client.modelsReply, ready: false, models: [] };
    await model.start();
    const commands = new PanelCommands(model);
    const { input } = new InputChatModel(model, name => commands.does(name));
    input.send('/clear all');
    expect(model.notice.current?.message).toContain(
      'Not sent: /clear does not take this argument.'
    );
    await settle();
    expect(input.value).toBe('/clear all');
    expect(client.sessions.size).toBe(0);
    for (const text of ['/nonsense now', '/help', '/data/cars.csv is empty']) {
      input.value = '';
      input.send(text);
      await settle();
    }
    expect(connection.ops.map(({ op }) => op)).toMatchObject([
      { request: { message: '/nonsense now' } },
      { request: { message: '/help' } }
    ]);
    expect(input.value).toBe('/data/cars.csv is empty');
  });

  it('are none in the middle of a message', async () => {
    const { model, input, type } = makeInput();
    type('look at /ne');
    expect(
      await new PanelCommands(model).listCommandCompletions(input)
    ).toEqual([]);
  });

  it('complete what may follow a command', async () => {
    const { client, model, input, type } = makeInput();
    client.tutorialsReply = { tutorials: [tutorial('pandas-basics')] };
    const commands = new PanelCommands(model);
    type('/tutorial pan');
    expect(await commands.listCommandCompletions(input)).toMatchObject([
      { name: 'pandas-basics', description: 'Pandas basics · 0 of 2 done' }
    ]);
    type('/new pan');
    expect(await commands.listCommandCompletions(input)).toEqual([]);
    expect(commands.has('/tutorial pandas-basics')).toBe(true);
    expect(commands.has('/tutorial pan')).toBe(false);
    expect(commands.has('/quality now')).toBe(false);
  });

  it('are carried out with what was typed after them', async () => {
    const { client, model, input, type } = makeInput();
    client.tutorialsReply = { tutorials: [tutorial('pandas-basics')] };
    const commands = new PanelCommands(model);
    type('/tutorial pandas-basics');
    await commands.onSubmit(input);
    expect(input.value).toBe('');
    await new Promise(process.nextTick);
    expect(model.toolsPanel.tutorials.place.current?.id).toBe('pandas-basics');
    type('/quality');
    await commands.onSubmit(input);
    expect(model.toolsPanel.card.current?.kind).toBe('quality');
  });
});

describe('commands for what was said', () => {
  it('take a question as it is, a format only if it is known', async () => {
    const { client, model, input, type } = makeInput();
    const commands = new PanelCommands(model);
    client.strategistReply = { reply: 'Teal.' };
    expect(commands.has('/strategist Which colour do I like?')).toBe(true);
    expect(commands.has('/clear everything')).toBe(false);
    expect(commands.has('/export md')).toBe(true);
    expect(commands.has('/export pdf')).toBe(false);
    type('/strategist Which colour\ndo I like?');
    await commands.onSubmit(input);
    expect(input.value).toBe('');
    expect(model.toolsPanel.card.current).toEqual({ kind: 'strategist' });
    expect(client.questions[0].question).toBe('Which colour\ndo I like?');
  });

  it('complete the formats of an export', async () => {
    const { model, input, type } = makeInput();
    const commands = new PanelCommands(model);
    type('/export i');
    const found = await commands.listCommandCompletions(input);
    expect(found.map(({ name }) => name)).toEqual(['ipynb']);
  });
});
