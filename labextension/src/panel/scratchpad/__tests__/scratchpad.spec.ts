import { ApiError } from '../../../api/errors';
import { StrategistReply } from '../../../api/types';
import { PanelModel } from '../../model';
import { originOf, originLabel } from '../about';
import { keptOf } from '../keptCells';
import { forNotebook, sessionOf, turnOf } from '../../../session/turnLinks';
import { IToolEntry } from '../../../session/turn';
import { cellOf } from '../../strategist/strategistController';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory
} from '../../__tests__/fakes';

function makeModel() {
  const client = new FakeClient();
  const editor = new FakeEditor();
  const model = new PanelModel({
    client,
    editor,
    connection: new FakeConnection(),
    memory: new FakeMemory(),
    strategistMemory: new FakeMemory('openai/gpt-test')
  });
  return { client, editor, model };
}

const call = (fields: Partial<IToolEntry>): IToolEntry => ({
  kind: 'tool',
  id: 'call',
  name: 'runNotebookCells',
  status: 'ok',
  startedAt: 0,
  changes: [],
  ...fields
});

describe('what is kept', () => {
  it('goes to scratchpad.ipynb with its turn, and a notice says so', async () => {
    const { client, model } = makeModel();
    await model.scratchpad.send({
      content: 'Teal ([here](turn:trn_1)).',
      turnId: 'trn_2'
    });
    expect(client.kept).toEqual([
      {
        path: undefined,
        clientId: 'page_test',
        show: false,
        cells: [
          {
            type: 'markdown',
            content: 'Teal ([here](#turn-trn_1)).',
            turnId: 'trn_2',
            outputs: []
          }
        ]
      }
    ]);
    expect(model.actionNotice.current?.message).toBe(
      'Added to scratchpad.ipynb.'
    );
  });

  it('goes there in the order of the clicks, and one that fails holds nothing up', async () => {
    const { client, model } = makeModel();
    const add = client.addToScratchpad.bind(client);
    const begun: string[] = [];
    let release = (): void => undefined;
    const held = new Promise<void>(resolve => (release = resolve));
    client.addToScratchpad = async request => {
      const { content } = request.cells![0];
      begun.push(content);
      await (content === 'one' && held);
      if (content === 'two') {
        throw new ApiError('invalid_request', 'No.');
      }
      return add(request);
    };
    const sent = ['one', 'two', 'three'].map(content =>
      model.scratchpad.send({ content, turnId: 't' })
    );
    await Promise.resolve();
    expect(begun).toEqual(['one']);
    release();
    await Promise.all(sent);
    expect(begun).toEqual(['one', 'two', 'three']);
    expect(client.kept.map(({ cells }) => cells![0].content)).toEqual([
      'one',
      'three'
    ]);
  });

  it('goes to the notebook that the user marked, where one is open', async () => {
    const { client, editor, model } = makeModel();
    editor.markedScratchpad = 'mine.ipynb';
    await model.scratchpad.send({ content: 'x', turnId: 't' });
    await model.scratchpad.open();
    expect(client.kept.map(({ path }) => path)).toEqual([
      'mine.ipynb',
      'mine.ipynb'
    ]);
    expect(editor.openedBeside).toEqual(['mine.ipynb']);
  });

  it('of a run are its cells with their outputs; of anything else its words', () => {
    const { editor } = makeModel();
    const plot = {
      type: 'code' as const,
      content: 'plot()',
      outputs: [{ data: { 'image/png': 'x' } }]
    };
    editor.contents = { c4: plot };
    const run = call({ arguments: { cellIds: ['c4', 'gone'] } });
    expect(keptOf(run, 'cars.ipynb', editor)).toEqual([plot]);
    const read = call({ name: 'getCellOutputs', output: 'a ``` b' });
    expect(keptOf(read, 'cars.ipynb', editor)).toEqual([
      { content: '````text\na ``` b\n````' }
    ]);
  });
});

describe('a link to a turn', () => {
  it('survives every sanitizer, and is known by its form alone', () => {
    const text = forNotebook('[a](turn:trn_1) [b](https://x.org)');
    expect(text).toBe('[a](#turn-trn_1) [b](https://x.org)');
    expect(turnOf('#turn-trn_1')).toBe('trn_1');
    expect(turnOf('#turn-a b')).toBeNull();
    expect(turnOf('https://x.org#turn-1')).toBeNull();
    expect(turnOf(null)).toBeNull();
    expect(sessionOf('#session-ses_1')).toBe('ses_1');
    expect(sessionOf('#turn-trn_1')).toBeNull();
  });
});

describe('where a cell is from', () => {
  it('is read from its metadata, whatever is there', () => {
    const origin = originOf({
      provenance: { aiTurnId: 'trn_1', responseType: 'synthesis' },
      sessionId: 'ses_1'
    });
    expect(origin).toEqual({
      turnId: 'trn_1',
      sessionId: 'ses_1',
      responseType: 'synthesis'
    });
    expect(originLabel(origin!)).toBe('From the Strategist');
    const none = { aiTurnId: 'error', providerId: 'error' };
    expect(originOf({ provenance: none, sessionId: 'ses_1' })).toBeNull();
    expect(originOf({ lesson: 3 })).toBeNull();
    expect(originOf({ provenance: { aiTurnId: 7 } })).toBeNull();
    expect(originOf(undefined)).toBeNull();
  });
});

describe('the Strategist', () => {
  it('is asked with its own model about the session that is shown, one question at a time', async () => {
    const { client, model } = makeModel();
    await Promise.resolve();
    client.strategistReply = { reply: 'Teal.', turnId: 'trn_9' };
    const first = model.strategist.ask('Which colour?', 'pad.ipynb');
    expect(model.strategist.asked.current?.isAsking).toBe(true);
    expect(await model.strategist.ask('And now?')).toBeNull();
    const done = (await first)!;
    expect(client.questions).toEqual([
      {
        question: 'Which colour?',
        sessionId: undefined,
        model: 'openai/gpt-test',
        clientId: 'page_test',
        scratchpad: 'pad.ipynb'
      }
    ]);
    expect(done.answer?.reply).toBe('Teal.');
    expect(cellOf(done.question, done.answer!)).toMatchObject({
      content: '**Which colour?**\n\nTeal.',
      turnId: 'trn_9'
    });
  });

  it('is asked what is typed meanwhile when the question before is answered', async () => {
    const { client, model } = makeModel();
    client.strategistReply = { reply: 'Teal.', turnId: 'trn_9' };
    const first = model.strategist.ask('Which colour?');
    model.strategist.askNext('And which number?');
    model.strategist.askNext('');
    await first;
    await new Promise(resolve => setTimeout(resolve));
    expect(client.questions.map(({ question }) => question)).toEqual([
      'Which colour?',
      'And which number?'
    ]);
    expect(model.strategist.asked.current).toMatchObject({
      question: 'And which number?',
      isAsking: false
    });
  });

  it('that cannot answer says why', async () => {
    const { client, model } = makeModel();
    client.strategistReply = new ApiError('no_model', 'No model is connected.');
    const done = (await model.strategist.ask('Which colour?'))!;
    expect(done.problem).toBe('No model is connected.');
    client.strategistReply = {
      error: { code: 'model_error', message: 'Too many calls.' }
    } as Partial<StrategistReply>;
    expect((await model.strategist.ask('Again?'))?.problem).toBe(
      'Too many calls.'
    );
  });
});
