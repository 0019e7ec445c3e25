import { Mode } from '../../../api/types';
import { PanelModel } from '../../model';
import { InputChatModel } from '../chatModel';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory
} from '../../__tests__/fakes';

const ABOUT_IT = 'What is in this notebook?';
const WORK = 'Plot the weights';
const NEITHER = 'What is 2 + 2?';

async function makeModel(mode: Mode = 'ask') {
  const editor = new FakeEditor();
  const client = new FakeClient();
  const model = new PanelModel({
    client,
    editor,
    connection: new FakeConnection(),
    memory: new FakeMemory()
  });
  await model.start();
  await model.refreshModels();
  model.composerState.choose({ mode });
  return { model, editor, client, question: model.notebookQuestion };
}

describe('before a message goes out without the notebook that it needs', () => {
  it.each<[Mode, boolean]>([
    ['ask', false],
    ['edit', true],
    ['agent', true]
  ])('in mode %s, its words ask; the mode does: %s', async (mode, isWork) => {
    const { question } = await makeModel(mode);
    expect(question.ask(NEITHER)).toBe(false);
    expect(question.ask(ABOUT_IT)).toBe(true);
    expect(question.current?.why).toContain('cars.ipynb is not attached');
    expect(question.ask(WORK)).toBe(isWork);
  });

  it.each<Mode>(['ask', 'edit', 'agent'])(
    'in mode %s, one click attaches it and the message is about it',
    async mode => {
      const { model, question } = await makeModel(mode);
      question.ask(ABOUT_IT);
      const [remedy] = question.current!.remedies;
      const submitted = await question.answer(remedy);
      expect(submitted).toMatchObject({
        activeNotebook: 'cars.ipynb',
        composerState: {
          attachments: [{ kind: 'notebook', path: 'cars.ipynb' }]
        }
      });
      expect(question.current).toBeNull();
      expect(question.ask(ABOUT_IT)).toBe(false);
      expect(question.ask(WORK)).toBe(false);
      expect(model.composerState.hasNotebook('cars.ipynb')).toBe(true);
    }
  );

  it('one that is attached and not active is gone to, and the active one is the first choice', async () => {
    const { model, editor, question } = await makeModel('agent');
    model.composerState.attach({ kind: 'notebook', path: 'other.ipynb' });
    expect(question.ask(WORK)).toBe(false);
    expect(question.ask(ABOUT_IT)).toBe(true);
    const labels = question.current!.remedies.map(({ label }) => label);
    expect(labels).toEqual(['Attach cars.ipynb', 'Open other.ipynb']);
    const submitted = await question.answer(question.current!.remedies[1]);
    expect(editor.revealed).toEqual([{ path: 'other.ipynb' }]);
    // The page may not have gone there yet.
    expect(submitted.activeNotebook).toBe('other.ipynb');
  });

  it('those that are open are offered where none is active, and nothing where none is open', async () => {
    const { editor, question } = await makeModel('edit');
    editor.activeNotebook = null;
    editor.openNotebooks = ['a.ipynb', 'b.ipynb', 'c.ipynb', 'd.ipynb'];
    expect(question.ask(ABOUT_IT)).toBe(true);
    const labels = question.current!.remedies.map(({ label }) => label);
    expect(labels).toEqual([
      'Attach a.ipynb',
      'Attach b.ipynb',
      'Attach c.ipynb'
    ]);
    editor.openNotebooks = [];
    expect(question.ask(ABOUT_IT)).toBe(false);
    expect(question.ask(WORK)).toBe(false);
  });

  it('it goes as it is once that was said: work for the conversation, words for this message', async () => {
    const { model, question } = await makeModel('agent');
    expect(question.ask(WORK)).toBe(true);
    // The same once more means that it goes.
    expect(question.ask(WORK)).toBe(false);
    expect(question.ask('Plot the prices')).toBe(false);
    expect(question.ask(ABOUT_IT)).toBe(true);
    await question.answer(null);
    expect(question.ask(ABOUT_IT)).toBe(true);
    model.sessions.startNew();
    expect(question.ask(WORK)).toBe(true);
  });

  it.each([
    'agent: plot the weights in this notebook',
    'What is in @data/cars.ipynb, this notebook?',
    'Make a new notebook about cars'
  ])('it is not asked of: %s', async message => {
    const { question } = await makeModel('agent');
    expect(question.ask(message)).toBe(false);
  });
});

it('a message that nobody could answer is not asked about', async () => {
  const client = new FakeClient();
  client.modelsReply = { ...client.modelsReply, ready: false, models: [] };
  const model = new PanelModel({
    client,
    editor: new FakeEditor(),
    connection: new FakeConnection(),
    memory: new FakeMemory()
  });
  await model.start();
  await model.refreshModels();
  expect(model.notebookQuestion.ask(ABOUT_IT)).toBe(false);
});

test.each([
  ['notebook', 0],
  [undefined, 1]
])(
  'a message that is for the service %s leads to so many questions: %s',
  async (service, questions) => {
    const { model, client, question } = await makeModel();
    client.intentReply = { ...client.intentReply, service };
    const chat = new InputChatModel(model, () => false);
    const send = jest.spyOn(model, 'send').mockResolvedValue(true);
    chat.sendMessage({ body: 'Export this notebook as HTML' });
    await new Promise(resolve => setTimeout(resolve));
    expect(question.current ? 1 : 0).toBe(questions);
    expect(send).toHaveBeenCalledTimes(1 - questions);
    expect(chat.input.value).toBe(
      questions ? 'Export this notebook as HTML' : ''
    );
  }
);
