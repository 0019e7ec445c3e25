import { PanelModel } from '../../model';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory,
  READY
} from '../../__tests__/fakes';
import { tutorial } from '../../__tests__/samples';

const NO_MODEL = {
  models: [],
  locked: false,
  canConnect: true,
  lockedChoices: [],
  ready: false,
  connections: []
};

function make(remembered: string | null = null) {
  const client = new FakeClient();
  client.modelsReply = NO_MODEL;
  client.tutorialsReply = {
    tutorials: [tutorial('pandas-basics'), tutorial('first-model')]
  };
  const connection = new FakeConnection();
  const editor = new FakeEditor();
  const tutorialMemory = new FakeMemory(remembered);
  const model = new PanelModel({
    client,
    connection,
    editor,
    memory: new FakeMemory(),
    tutorialMemory
  });
  return { model, client, connection, editor, tutorialMemory };
}

describe('what works without a model', () => {
  it('is sent as a turn in Agent mode, whatever is chosen', async () => {
    const { model, connection } = make();
    await model.start();
    const info = {
      id: 'explore',
      name: 'Explore',
      description: '',
      parameters: {},
      requiredTools: [],
      steps: []
    };
    expect(
      await model.toolsPanel.workflows.run(info, { data: 'cars.csv' })
    ).toBe(true);
    const [{ op }] = connection.ops;
    expect(op).toMatchObject({
      type: 'user_message',
      request: {
        message: 'Explore of cars.csv',
        workflow: { id: 'explore', parameters: { data: 'cars.csv' } }
      }
    });
    expect(await model.send('Hello')).toBe(false);
  });

  it('says that a notebook is needed for its report', async () => {
    const { model, editor } = make();
    editor.activeNotebook = null;
    model.toolsPanel.showQuality();
    expect(model.toolsPanel.card.current).toBeNull();
    expect(model.notice.current?.message).toContain('Open a notebook');
  });

  it('is chosen from lists that close when a message is sent; what was chosen stays', async () => {
    const { model, client } = make();
    client.modelsReply = READY;
    await model.start();
    model.toolsPanel.showWorkflows();
    await model.send('Hello');
    expect(model.toolsPanel.card.current).toBeNull();
    model.toolsPanel.showQuality();
    await model.send('Hello again');
    expect(model.toolsPanel.card.current?.kind).toBe('quality');
  });

  it('goes back to the lesson when another card is closed', async () => {
    const { model } = make();
    await model.toolsPanel.openTutorial('pandas-basics');
    model.toolsPanel.showQuality();
    model.toolsPanel.close();
    expect(model.toolsPanel.card.current).toEqual({ kind: 'lesson' });
    model.toolsPanel.close();
    expect(model.toolsPanel.card.current).toBeNull();
  });
});

describe('a tutorial', () => {
  it('is started, checked, and goes on with the next lesson', async () => {
    const { model, client, editor, tutorialMemory } = make();
    const { tutorials } = model.toolsPanel;
    await model.toolsPanel.openTutorial('pandas-basics');
    expect(editor.revealed[0].path).toBe('tutorials/pandas-basics.ipynb');
    client.verdict = { passed: false, feedback: 'Not quite.' };
    await tutorials.check();
    expect(tutorials.place.current?.verdict).toEqual(client.verdict);
    client.verdict = { passed: true, feedback: 'Good.' };
    await tutorials.check();
    expect(tutorials.current?.lesson.done).toBe(true);
    await tutorials.goTo(2);
    expect(tutorials.place.current?.verdict).toBeUndefined();
    expect(editor.revealed.pop()?.cellId).toBe('lesson-2');
    expect(tutorialMemory.sessionId).toBe('pandas-basics#2');
  });

  it('is there again after a reload, until it was closed', async () => {
    const { model, client, tutorialMemory } = make('pandas-basics#2');
    await client.startTutorial('pandas-basics');
    await model.start();
    expect(model.toolsPanel.tutorials.current?.lesson.number).toBe(2);
    expect(model.toolsPanel.card.current?.kind).toBe('lesson');
    model.toolsPanel.close();
    expect(tutorialMemory.sessionId).toBeNull();
  });

  it('gives way to the one whose notebook comes to the front', async () => {
    const { model, client, editor } = make();
    await client.startTutorial('first-model');
    await model.toolsPanel.openTutorial('pandas-basics');
    editor.activeNotebook = 'tutorials/first-model.ipynb';
    editor.changed.emit();
    expect(model.toolsPanel.tutorials.current?.tutorial.id).toBe('first-model');
  });

  it('that cannot be started says why', async () => {
    const { model, client } = make();
    client.startTutorial = async () => {
      throw new Error('tutorials is a file.');
    };
    await model.toolsPanel.openTutorial('pandas-basics');
    expect(model.toolsPanel.card.current?.kind).toBe('tutorials');
    expect(model.toolsPanel.tutorials.known.current.problem).toBe(
      'tutorials is a file.'
    );
  });
});
