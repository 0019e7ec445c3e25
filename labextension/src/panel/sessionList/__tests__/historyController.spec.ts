import { IAsked } from '../ask';
import { PanelModel } from '../../model';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory
} from '../../__tests__/fakes';
import { turnRecord } from '../../__tests__/samples';

async function makeModel(turns = 3, answer: string | null = null) {
  const connection = new FakeConnection();
  const client = new FakeClient();
  const editor = new FakeEditor();
  const { id } = await client.createSession({ title: 'Cars' });
  client.turns.set(
    id,
    Array.from({ length: turns }, (_, index) =>
      turnRecord({ id: `t${index}`, message: `Message ${index}` })
    )
  );
  const asked: IAsked[] = [];
  const model = new PanelModel({
    client,
    connection,
    editor,
    memory: new FakeMemory(id),
    ask: async question => {
      asked.push(question);
      return answer;
    }
  });
  await model.start();
  return { model, connection, client, editor, asked, id };
}

const shownTurns = (model: PanelModel) =>
  model.shown.current.store.conversation.current.turnIds;

describe('a fork', () => {
  it('is shown, and said to be a copy', async () => {
    const { model, client, id } = await makeModel();
    await model.history.fork('t1');
    expect(client.forks).toEqual([{ sessionId: id, turnId: 't1' }]);
    expect(model.shown.current.sessionId).toBe('ses_2');
    expect(
      model.shown.current.store.conversation.current.forkedFrom
    ).toMatchObject({ sessionId: id, turnId: 't1' });
  });
});

describe('going back', () => {
  it('asks first, and does nothing where the user thinks better of it', async () => {
    const { model, connection, asked } = await makeModel();
    expect(await model.history.goBack('t0')).toBe(false);
    expect(asked[0].body[0]).toContain('The 2 turns after this one');
    expect(asked[0].choices.map(({ id }) => id)).toEqual(['conversation']);
    expect(connection.ops).toEqual([]);
  });

  it('offers to take changes of documents back, where there are some', async () => {
    const { model, connection, client, asked, id } = await makeModel(
      0,
      'documents'
    );
    client.turns.set(id, [
      turnRecord({ id: 't0' }),
      turnRecord({
        id: 't1',
        changes: [{ path: 'cars.ipynb', op: 'update', cellId: 'c4' }]
      })
    ]);
    await model.sessions.open(id);
    expect(await model.history.goBack('t1', true)).toBe(true);
    expect(asked[0].choices).toHaveLength(2);
    expect(connection.ops[0].op).toEqual({
      type: 'go_back',
      turnId: 't1',
      includeTurn: true,
      documents: true
    });
  });
});

describe('an export', () => {
  it.each([
    ['md', 'as Markdown to ses_1.md'],
    ['ipynb', 'as a notebook to ses_1.ipynb'],
    ['json', 'as JSON to ses_1.json']
  ] as const)('as %s says what was written, and where', async (format, as) => {
    const { model } = await makeModel();
    // What the browser does with it is not the model's.
    URL.createObjectURL = () => 'blob:';
    const kept = jest
      .spyOn(HTMLAnchorElement.prototype, 'click')
      .mockImplementation();
    await model.history.export(format);
    expect(model.notice.current).toEqual({
      level: 'info',
      message: `This session was written ${as}, in your browser's downloads.`
    });
    expect(kept).toHaveBeenCalledTimes(1);
    kept.mockRestore();
  });

  it('that cannot be made says why, and keeps nothing', async () => {
    const { client, model } = await makeModel();
    const kept = jest.spyOn(HTMLAnchorElement.prototype, 'click');
    client.exportSession = async () => {
      throw new Error('The disk is full.');
    };
    await model.history.export('md');
    expect(model.notice.current).toMatchObject({
      level: 'error',
      message: 'The disk is full.'
    });
    expect(kept).not.toHaveBeenCalled();
    kept.mockRestore();
  });
});

describe('clearing', () => {
  it('says what is forgotten, and orders it', async () => {
    const { model, connection, asked } = await makeModel(1, 'clear');
    await model.history.clear();
    expect(asked[0].body.join(' ')).toMatch(/messages.*token count.*data sets/);
    expect(connection.ops[0].op).toEqual({ type: 'reset' });
  });

  it('of a new conversation says that there is nothing', async () => {
    const { model, connection, asked } = await makeModel(1, 'clear');
    model.sessions.startNew();
    await model.history.clear();
    expect(asked).toEqual([]);
    expect(connection.ops).toEqual([]);
    expect(model.notice.current?.message).toContain('no messages yet');
  });
});

describe('a turn to jump to', () => {
  it('is only marked where it is here', async () => {
    const { model } = await makeModel();
    const { store } = model.shown.current;
    await model.sessions.goTo('t1');
    expect(model.sessions.marked.current).toEqual({ turnId: 't1' });
    expect(model.shown.current.store).toBe(store);
  });

  it('comes with those around it where it is far away, and later ones follow', async () => {
    const { model, connection, id } = await makeModel(200);
    expect(shownTurns(model)).not.toContain('t30');
    await model.sessions.goTo('t30');
    const shown = shownTurns(model);
    expect(shown).toContain('t30');
    expect(shown.length).toBeLessThan(50);
    expect(model.shown.current).toMatchObject({ isLoading: false });
    expect(model.shown.current.before).toBe(shown[0]);
    const last = shown[shown.length - 1];
    expect(model.shown.current.after).toBe(last);

    await model.sessions.loadNewer();
    expect(shownTurns(model)).toEqual([
      ...shown,
      ...Array.from(
        { length: 20 },
        (_, index) => `t${Number(last.slice(1)) + 1 + index}`
      )
    ]);

    // A turn that begins is shown where the conversation goes on.
    connection.emit(id, {
      type: 'turn_started',
      turnId: 'new',
      mode: 'ask',
      notebookMode: 'off',
      tools: [],
      message: 'More'
    });
    await new Promise(resolve => setTimeout(resolve));
    expect(model.shown.current.after).toBeUndefined();
    expect(shownTurns(model)).toContain('t199');
  });
});

describe('what going back left', () => {
  it('is reported when it happens, and not again after a reload', async () => {
    const { model } = await makeModel();
    const noticeAt = (at: number) => {
      model.notice.set(null);
      model.history.onEvent({
        type: 'went_back',
        seq: 9,
        at,
        toTurnId: 't1',
        includeTurn: false,
        documents: true,
        withdrawn: ['t2'],
        left: ['t2']
      });
      return model.notice.current?.message ?? '';
    };
    expect(noticeAt(Date.now())).toContain('reverted turns remain');
    expect(noticeAt(Date.now() - 60_000)).toBe('');
  });
});

describe('a conversation as a notebook', () => {
  it('is saved and opened', async () => {
    const { model, editor, id } = await makeModel();
    await model.history.openAsNotebook();
    expect(editor.saved).toEqual([{ name: `${id}.ipynb`, content: '{}' }]);
  });
});

describe('what a step changed', () => {
  it('is shown at the last of its cells that is still there', async () => {
    const { model, client, editor } = await makeModel();
    client.changesReply.changes = [
      { path: 'cars.ipynb', op: 'update', cellId: 'c4' },
      { path: 'cars.ipynb', op: 'insert', cellId: 'gone' },
      { path: 'other.ipynb', op: 'insert', cellId: 'c5' }
    ];
    await model.history.revealChange('t1', 'cars.ipynb');
    expect(editor.revealed).toEqual([
      { path: 'cars.ipynb', cellId: undefined },
      { path: 'cars.ipynb', cellId: 'c4' }
    ]);
  });
});
