import { ApiError } from '../../api/errors';
import { PanelModel } from '../model';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory,
  READY
} from './fakes';
import { turnRecord } from './samples';
import { ITurn } from '../../session/turn';

function makeModel(sessionId: string | null = null) {
  const connection = new FakeConnection();
  const client = new FakeClient();
  const editor = new FakeEditor();
  const memory = new FakeMemory(sessionId);
  const model = new PanelModel({ client, connection, editor, memory });
  return { model, connection, client, editor, memory };
}

async function session(client: FakeClient, title = 'Cars') {
  return client.createSession({ title, settings: { mode: 'edit' } });
}

describe('a message', () => {
  it('makes the session, listens to it, and goes with all that was chosen', async () => {
    const { model, connection, memory } = makeModel();
    await model.start();
    model.composerState.choose({ mode: 'agent' });
    model.composerState.attach({ kind: 'notebook', path: 'cars.ipynb' });
    expect(await model.send('Find the mean')).toBe(true);
    expect(connection.subscriptions).toEqual([
      { sessionId: 'ses_1', after: 0 }
    ]);
    expect(connection.ops[0].op).toMatchObject({
      type: 'user_message',
      request: {
        message: 'Find the mean',
        sessionId: 'ses_1',
        mode: 'agent',
        attachments: [{ kind: 'notebook', path: 'cars.ipynb' }],
        activeNotebook: 'cars.ipynb',
        clientId: 'page_test',
        location: 'panel'
      }
    });
    expect(memory.sessionId).toBe('ses_1');
  });

  it('says that no notebook is active, rather than leaving it open', async () => {
    const { model, connection, editor } = makeModel();
    editor.activeNotebook = null;
    await model.start();
    await model.send('Hello');
    expect(connection.ops[0].op).toMatchObject({
      request: { activeNotebook: null }
    });
  });

  it('belongs to one new session when two are sent at once', async () => {
    const { model, client, connection } = makeModel();
    await model.start();
    await Promise.all([model.send('one'), model.send('two')]);
    expect(client.sessions.size).toBe(1);
    expect(connection.subscriptions).toHaveLength(1);
    expect(connection.ops).toHaveLength(2);
  });

  it('is on its way until an event reports it, whichever comes first', async () => {
    const { model, connection } = makeModel();
    await model.start();
    const begin = (opId: string) =>
      connection.emit('ses_1', {
        type: 'turn_started',
        turnId: opId,
        opId,
        mode: 'ask',
        notebookMode: 'off',
        tools: [],
        message: 'Hello'
      });
    const sent = model.send('Hello');
    expect(model.messages.sending.current).toMatchObject([
      { message: 'Hello' }
    ]);
    await sent;
    expect(model.messages.sending.current).toMatchObject([{ opId: 'op_1' }]);
    begin('op_1');
    expect(model.messages.sending.current).toEqual([]);

    const again = model.send('Hello');
    begin('op_2');
    await again;
    expect(model.messages.sending.current).toEqual([]);
  });

  it('is kept when it is refused, with the reason', async () => {
    const { model, connection } = makeModel();
    await model.start();
    connection.refusal = new ApiError('too_large', 'The message is too large.');
    expect(await model.send('x')).toBe(false);
    expect(model.notice.current).toEqual({
      level: 'error',
      message: 'The message is too large.'
    });
  });

  it('comes back when it is refused after it was taken', async () => {
    const { model, connection } = makeModel();
    await model.start();
    await model.send('See @gone.csv');
    connection.emit('ses_1', {
      type: 'error',
      code: 'not_found',
      message: 'gone.csv does not exist.',
      retryable: false,
      opId: 'op_1'
    });
    expect(model.messages.sending.current).toEqual([]);
    expect(model.messages.returned.current).toEqual({
      message: 'See @gone.csv'
    });
    expect(model.notice.current?.message).toBe('gone.csv does not exist.');
  });

  it('is kept while there is no connection', async () => {
    const { model, connection } = makeModel();
    await model.start();
    connection.setStatus('reconnecting');
    expect(await model.send('x')).toBe(false);
    expect(connection.ops).toHaveLength(0);
    expect(model.link.current.status).toBe('offline');
  });
});

describe('what a message is about', () => {
  /** Something that is not answered before the test says so. */
  function held<T>() {
    let answer!: (value: T) => void;
    const answered = new Promise<T>(resolve => (answer = resolve));
    return { answer, answered };
  }

  it('is fixed when it is submitted, though its session is only then made', async () => {
    const { model, connection, client, editor } = makeModel();
    await model.start();
    editor.listed = [
      { cellId: 'a1', number: 1, firstLine: 'a', hasOutput: false }
    ];
    model.composerState.attach({ kind: 'notebook', path: 'cars.ipynb' });
    const create = client.createSession.bind(client);
    const made = held<void>();
    client.createSession = async body => {
      await made.answered;
      return create(body);
    };
    const sent = model.send('What is in @cell:1?');

    editor.activeNotebook = 'other.ipynb';
    editor.listed = [
      { cellId: 'b1', number: 1, firstLine: 'b', hasOutput: false }
    ];
    model.composerState.choose({ mode: 'agent' });
    model.composerState.choose({ model: 'anthropic/claude-test' });
    model.composerState.attach({ kind: 'file', path: 'secret.txt' });
    model.composerState.toggleTool('runNotebookCells');
    made.answer();
    await sent;
    expect(connection.ops[0].op).toMatchObject({
      request: {
        mode: 'ask',
        model: undefined,
        activeNotebook: 'cars.ipynb',
        toolReferences: [],
        attachments: [
          { kind: 'notebook', path: 'cars.ipynb' },
          { kind: 'cell', path: 'cars.ipynb', cellId: 'a1' }
        ]
      }
    });
    // What was chosen meanwhile is for the next one.
    expect(model.composerState.current.tools).toEqual(['runNotebookCells']);
  });

  it('is its session, though another one is shown before it has gone', async () => {
    const { model, connection, client } = makeModel();
    const first = await session(client, 'First');
    const second = await session(client, 'Second');
    await model.start();
    await model.sessions.open(first.id);
    model.models.set(null);
    const models = held<typeof READY>();
    client.models = () => models.answered;
    const sent = model.send('For the first, with @data:nothing');
    await model.sessions.open(second.id);
    models.answer(READY);
    await sent;
    expect(connection.ops).toMatchObject([{ sessionId: first.id }]);
    expect(model.shown.current.sessionId).toBe(second.id);
    expect(model.notice.current).toBeNull();
    expect(model.composerState.current.attachments).toEqual([]);
  });

  it('is a new session of its own, where one was begun before that is not made yet', async () => {
    const { model, connection, client } = makeModel();
    await model.start();
    const create = client.createSession.bind(client);
    const made = held<void>();
    client.createSession = async body => {
      await made.answered;
      return create(body);
    };
    const one = model.send('one');
    model.sessions.startNew();
    const two = model.send('two');
    made.answer();
    await Promise.all([one, two]);
    const ids = connection.ops.map(({ sessionId }) => sessionId);
    expect(new Set(ids).size).toBe(2);
    expect(model.shown.current.sessionId).toBe(ids[1]);
  });

  it('that goes out again is what it was about at the click', async () => {
    const { model, connection, editor } = makeModel();
    await model.start();
    const { submitted } = model.messages;
    editor.activeNotebook = 'other.ipynb';
    model.composerState.choose({ mode: 'agent' });
    const turn = { message: 'Again' } as ITurn;
    await model.sendAgain(turn, { ...submitted, activeNotebook: 'x.ipynb' });
    expect(connection.ops[0].op).toMatchObject({
      request: { mode: 'ask', activeNotebook: 'x.ipynb' }
    });
  });

  it('an upload belongs to the session in which it was begun', async () => {
    const { model, client } = makeModel();
    const first = await session(client, 'First');
    const second = await session(client, 'Second');
    await model.start();
    await model.sessions.open(first.id);
    const uploaded = held<void>();
    const upload = client.uploading;
    const into: (string | undefined)[] = [];
    client.uploading = async options => {
      into.push(options.sessionId);
      await uploaded.answered;
      return upload(options);
    };
    const done = model.datasets.upload([new File(['a'], 'cars.csv')]);
    await model.sessions.open(second.id);
    uploaded.answer();
    await done;
    expect(into).toEqual([first.id]);
    expect(model.composerState.current.attachments).toEqual([]);
  });

  it('what is asked in a dialog is done to the session that it was about', async () => {
    const connection = new FakeConnection();
    const client = new FakeClient();
    const answer = held<string | null>();
    const model = new PanelModel({
      client,
      connection,
      editor: new FakeEditor(),
      memory: new FakeMemory(),
      ask: () => answer.answered
    });
    const first = await session(client, 'First');
    const second = await session(client, 'Second');
    await model.start();
    await model.sessions.open(first.id);
    const cleared = model.history.clear();
    await model.sessions.open(second.id);
    answer.answer('clear');
    await cleared;
    expect(connection.ops).toEqual([
      { sessionId: first.id, op: { type: 'reset' } }
    ]);
  });
});

describe('without a model', () => {
  const none = (client: FakeClient) => {
    client.modelsReply = { ...READY, ready: false, models: [] };
  };

  it('a message makes no session and no turn, and is kept', async () => {
    const { model, client, connection } = makeModel();
    none(client);
    await model.start();
    expect(await model.send('Hello')).toBe(false);
    expect(client.sessions.size).toBe(0);
    expect(connection.ops).toEqual([]);
    expect(model.notice.current).toMatchObject({
      level: 'error',
      needs: 'model'
    });
    expect(model.notice.current?.message).toContain('no model is connected');
  });

  it('is asked for the models first, where they are not known yet', async () => {
    const { model, client } = makeModel();
    none(client);
    model.link.set({ status: 'online', attempt: 0 });
    expect(await model.send('Hello')).toBe(false);
    expect(client.sessions.size).toBe(0);
  });

  it('says that it can be sent, once one is connected', async () => {
    const { model, client } = makeModel();
    none(client);
    await model.start();
    await model.send('Hello');
    client.modelsReply = READY;
    await model.refreshModels();
    expect(model.notice.current).toMatchObject({ level: 'info' });
    expect(await model.send('Hello')).toBe(true);
  });

  it('goes to a model that the server does not list, which it may know all the same', async () => {
    const { model, client } = makeModel();
    none(client);
    await model.start();
    model.composerState.choose({ model: 'ollama_chat/qwen3' });
    expect(await model.send('Hello')).toBe(true);
  });
});

describe('after a reload', () => {
  it('the session is shown as it was, with what it remembers', async () => {
    const { model, client, connection } = makeModel('ses_1');
    await session(client);
    client.turns.set('ses_1', [turnRecord({ id: 't1', lastSeq: 7 })]);
    await model.start();
    const { store } = model.shown.current;
    expect(store.conversation.current).toMatchObject({
      title: 'Cars',
      turnIds: ['t1']
    });
    expect(model.composerState.current.mode).toBe('edit');
    expect(connection.subscriptions[0].after).toBe(7);
  });

  it('a turn that still runs goes on streaming, and nothing stands twice', async () => {
    const { model, client, connection } = makeModel('ses_1');
    await session(client);
    const emit = (event: Parameters<typeof connection.emit>[1]) =>
      connection.emit('ses_1', { turnId: 't2', ...event });
    for (let i = 0; i < 4; i++) {
      connection.emit('ses_1', { type: 'status', message: 'x', turnId: 't1' });
    }
    emit({
      type: 'turn_started',
      mode: 'ask',
      notebookMode: 'off',
      tools: [],
      message: 'Go'
    });
    emit({ type: 'text_delta', itemId: 'a', delta: 'The mean ' });
    client.turns.set('ses_1', [
      turnRecord({ id: 't1', firstSeq: 1, lastSeq: 4 }),
      turnRecord({ id: 't2', firstSeq: 5, lastSeq: 6, status: 'running' })
    ]);
    await model.start();
    emit({ type: 'text_delta', itemId: 'a', delta: 'is 104.5' });
    const { store } = model.shown.current;
    expect(store.conversation.current).toMatchObject({
      turnIds: ['t1', 't2'],
      runningTurnId: 't2'
    });
    expect(store.turn('t2').current.entries).toEqual([
      { kind: 'text', id: 'a', text: 'The mean is 104.5' }
    ]);
  });

  it('a session that was deleted gives way to a new one', async () => {
    const { model, memory } = makeModel('ses_gone');
    await model.start();
    expect(model.shown.current.sessionId).toBeNull();
    expect(memory.sessionId).toBeNull();
    expect(model.notice.current).toBeNull();
  });
});

describe('a session', () => {
  it('is renamed, whether it is shown or not', async () => {
    const { model, client } = makeModel();
    await session(client, 'One');
    await session(client, 'Two');
    await model.sessions.open('ses_1');
    await model.sessions.rename('Uno');
    await model.sessions.rename('Due', 'ses_2');
    const { store } = model.shown.current;
    expect(store.conversation.current.title).toBe('Uno');
    expect(client.sessions.get('ses_2')?.title).toBe('Due');
  });

  it('that is shown gives way to a new one when it is deleted', async () => {
    const { model, client, memory } = makeModel();
    await session(client);
    await session(client);
    await model.sessions.open('ses_1');
    expect(await model.sessions.delete('ses_2')).toBe(true);
    expect(model.shown.current.sessionId).toBe('ses_1');
    expect(await model.sessions.delete('ses_1')).toBe(true);
    expect(model.shown.current.sessionId).toBeNull();
    expect(memory.sessionId).toBeNull();
    // Deleted in another tab meanwhile: it is gone, as wanted.
    expect(await model.sessions.delete('ses_1')).toBe(true);
    expect(model.notice.current).toBeNull();
  });

  it('that is deleted in another tab says so, and gives way to a new one', async () => {
    const { model, client, connection } = makeModel();
    await session(client);
    await model.sessions.open('ses_1');
    connection.emit('ses_1', { type: 'session_deleted' });
    expect(model.shown.current.sessionId).toBeNull();
    expect(model.notice.current?.message).toContain('in another tab');
  });

  it('that was deleted elsewhere takes no message, and gives way to a new one', async () => {
    const { model, client, connection } = makeModel();
    await session(client);
    await model.sessions.open('ses_1');
    connection.refusal = new ApiError('not_found', 'There is no session.');
    expect(await model.send('Hello')).toBe(false);
    expect(model.shown.current.sessionId).toBeNull();
    expect(model.notice.current?.message).toContain('was deleted');
  });
});

describe('sessions', () => {
  it('load their newest turns, and older ones on demand', async () => {
    const { model, client } = makeModel();
    await session(client);
    client.turns.set(
      'ses_1',
      Array.from({ length: 45 }, (_, i) => turnRecord({ id: `t${i}` }))
    );
    await model.sessions.open('ses_1');
    const ids = () => model.shown.current.store.conversation.current.turnIds;
    expect(ids()).toHaveLength(20);
    await model.sessions.loadOlder();
    expect(ids()).toHaveLength(40);
    await model.sessions.loadOlder();
    expect(ids()[0]).toBe('t0');
    expect(model.shown.current.before).toBeUndefined();
  });

  it('do not mix: what comes late for one is not shown in another', async () => {
    const { model, client, connection } = makeModel();
    await session(client, 'One');
    await session(client, 'Two');
    await model.sessions.open('ses_1');
    await model.sessions.open('ses_2');
    connection.emit('ses_1', {
      type: 'turn_started',
      turnId: 'a',
      mode: 'ask',
      notebookMode: 'off',
      tools: [],
      message: 'late'
    });
    const { store, sessionId } = model.shown.current;
    expect(sessionId).toBe('ses_2');
    expect(store.conversation.current.turnIds).toEqual([]);
  });

  it('are renamed', async () => {
    const { model, client } = makeModel();
    await session(client);
    await model.sessions.open('ses_1');
    await model.sessions.rename('  Horses ');
    expect(model.shown.current.store.conversation.current.title).toBe('Horses');
  });
});

describe('stopping', () => {
  it('interrupts what runs, and does nothing when nothing runs', async () => {
    const { model, connection, client } = makeModel();
    await session(client);
    await model.sessions.open('ses_1');
    model.stop();
    expect(connection.ops).toHaveLength(0);
    connection.emit('ses_1', {
      type: 'turn_started',
      turnId: 'a',
      mode: 'ask',
      notebookMode: 'off',
      tools: [],
      message: 'x'
    });
    model.stop();
    expect(connection.ops).toEqual([
      { sessionId: 'ses_1', op: { type: 'interrupt', hold: true } }
    ]);
  });
});

describe('a changed cell', () => {
  it('is brought into view when it changes, not when a reload brings it', async () => {
    const { model, connection, client, editor } = makeModel();
    await session(client);
    await model.sessions.open('ses_1');
    const change = (cellId: string, at: number) =>
      connection.emit('ses_1', {
        type: 'document_changed',
        turnId: 'a',
        at,
        path: 'cars.ipynb',
        changes: [{ path: 'cars.ipynb', op: 'insert', cellId, index: 0 }]
      });
    change('old', Date.now() - 60_000);
    change('new', Date.now());
    expect(editor.followed).toEqual([{ path: 'cars.ipynb', cellId: 'new' }]);
  });
});

describe('the input', () => {
  it('emits once that the user turned to it', () => {
    const { model, connection } = makeModel();
    model.inputFocused();
    model.inputFocused();
    expect(connection.focused).toBe(1);
  });
});

describe('attachments', () => {
  it('stand once, can be taken away, and are remembered by the session', async () => {
    const { model, client } = makeModel();
    await session(client);
    await model.sessions.open('ses_1');
    const notebook = { kind: 'notebook' as const, path: 'cars.ipynb' };
    model.composerState.attach(notebook, { ...notebook });
    expect(model.composerState.current.attachments).toEqual([notebook]);
    model.composerState.detach({ ...notebook });
    expect(model.composerState.current.attachments).toEqual([]);
    expect(client.patches.map(patch => patch.settings?.attachments)).toEqual([
      [notebook],
      []
    ]);
  });
});
