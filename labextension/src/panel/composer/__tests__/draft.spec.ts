import { InputChatModel } from '../chatModel';
import { Draft } from '../draft';
import { PanelModel } from '../../model';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory
} from '../../__tests__/fakes';

/** A page over one server and one tab's storage; `leave` is a reload. */
function openPage(client: FakeClient, memory: FakeMemory) {
  const connection = new FakeConnection();
  const editor = new FakeEditor();
  const model = new PanelModel({ client, connection, editor, memory });
  const { input } = new InputChatModel(model, () => false);
  const draft = new Draft(input, model.shown);
  drafts.push(draft);
  const leave = () => {
    window.dispatchEvent(new Event('pagehide'));
    draft.dispose();
  };
  return { model, input, leave };
}

async function twoSessions() {
  const client = new FakeClient();
  await client.createSession({ title: 'One' });
  await client.createSession({ title: 'Two' });
  return client;
}

const drafts: Draft[] = [];

afterEach(() => {
  drafts.splice(0).forEach(draft => draft.dispose());
  window.sessionStorage.clear();
});

describe('a draft', () => {
  it('survives a reload, in its session', async () => {
    const client = await twoSessions();
    const memory = new FakeMemory('ses_1');
    const before = openPage(client, memory);
    await before.model.start();
    before.input.value = 'Half a sent';
    before.leave();
    const after = openPage(client, memory);
    await after.model.start();
    expect(after.input.value).toBe('Half a sent');
    await after.model.sessions.open('ses_2');
    expect(after.input.value).toBe('');
    await after.model.sessions.open('ses_1');
    expect(after.input.value).toBe('Half a sent');
  });

  it('of a session that is not made yet survives too', async () => {
    const memory = new FakeMemory();
    const before = openPage(new FakeClient(), memory);
    await before.model.start();
    before.input.value = 'Hello';
    before.leave();
    const after = openPage(new FakeClient(), memory);
    await after.model.start();
    expect(after.input.value).toBe('Hello');
  });

  it('is gone when it was sent', async () => {
    const client = new FakeClient();
    const memory = new FakeMemory();
    const before = openPage(client, memory);
    await before.model.start();
    before.input.value = 'Hello';
    before.input.send(before.input.value);
    await new Promise(resolve => setTimeout(resolve));
    expect(before.model.shown.current.sessionId).toBe('ses_1');
    before.leave();
    const after = openPage(client, memory);
    await after.model.start();
    expect(after.input.value).toBe('');
    after.model.sessions.startNew();
    expect(after.input.value).toBe('');
  });

  it('stays in the input when it could not be sent', async () => {
    const client = new FakeClient();
    client.modelsReply = {
      models: [],
      locked: false,
      canConnect: true,
      lockedChoices: [],
      ready: false,
      connections: []
    };
    const { model, input } = openPage(client, new FakeMemory());
    await model.start();
    input.value = 'Hello';
    input.send(input.value);
    await new Promise(resolve => setTimeout(resolve));
    expect(input.value).toBe('Hello');
    expect(client.sessions.size).toBe(0);
  });

  it('goes along into a new session, rather than out of sight', async () => {
    const client = await twoSessions();
    const { model, input } = openPage(client, new FakeMemory('ses_1'));
    await model.start();
    input.value = 'Something else';
    model.sessions.startNew();
    expect(input.value).toBe('Something else');
    await model.sessions.open('ses_1');
    expect(input.value).toBe('');
  });
});
