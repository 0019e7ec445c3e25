/**
 * @jest-environment-options {"customExportConditions": ["node", "node-addons"]}
 */
import { Event, PageConnection, PageRequest } from '..';
import { PAGE_KEY } from '../pageKey';
import { PageServer, until } from './support';

function delta(seq: number): Event {
  return { type: 'text_delta', seq, at: 0, itemId: 'i', delta: String(seq) };
}

describe('PageConnection', () => {
  let server: PageServer;
  let connection: PageConnection;

  beforeEach(async () => {
    server = new PageServer();
    const settings = await server.start();
    connection = new PageConnection({
      settings,
      clientId: 'page_1',
      minDelayMs: 5,
      maxDelayMs: 10
    });
  });

  afterEach(async () => {
    connection.dispose();
    await server.stop();
  });

  async function connected(): Promise<void> {
    connection.connect();
    await until(() => connection.status === 'connected');
  }

  async function reconnected(): Promise<void> {
    const before = server.sockets.length;
    server.breakConnections();
    await until(
      () => server.sockets.length > before && connection.status === 'connected'
    );
  }

  it('opens nothing by itself', async () => {
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(connection.status).toBe('idle');
    expect(server.sockets).toHaveLength(0);
  });

  it('says who it is, with the token, and waits for the welcome', async () => {
    server.onMessage = () => undefined;
    connection.connect();
    await until(() => server.received.length > 0);
    expect(connection.status).toBe('connecting');
    expect(server.urls[0]).toBe('/datalayer-agent/page?token=secret');
    expect(server.received[0]).toEqual({
      type: 'hello',
      clientId: 'page_1',
      key: PAGE_KEY,
      pendingRequestIds: []
    });
    server.send({
      type: 'welcome',
      clientId: 'page_1',
      version: '0',
      maxMessageBytes: 1000,
      renamesKnownUntil: 7,
      awaitedRequestIds: [],
      returnMs: 15_000
    });
    await until(() => connection.status === 'connected');
  });

  it('says that the panel is shown once it is, also to a server that was started again', async () => {
    await connected();
    await reconnected();
    expect(server.of('panel_shown')).toHaveLength(0);
    connection.panelShown();
    await until(() => server.of('panel_shown').length === 1);
    await reconnected();
    await until(() => server.of('panel_shown').length === 2);
  });

  it('says, when it is back, until when it knows of renames', async () => {
    const known = (type: 'hello' | 'editor_state') =>
      server.of(type).map(({ renamesKnownUntil }) => renamesKnownUntil);
    server.renamesKnownUntil = 5;
    connection.sendEditorState({ type: 'editor_state' });
    await connected();
    const renamed = { oldPath: 'a', path: 'b', renamesKnownUntil: 9 };
    server.send({ type: 'file_renamed', ...renamed });
    await until(() => connection.renamesKnownUntil === 9);
    const earlier = { oldPath: 'c', path: 'd', renamesKnownUntil: 8 };
    let heard = false;
    connection.fileRenamed.connect(() => (heard = true));
    server.send({ type: 'file_renamed', ...earlier });
    await until(() => heard);
    connection.sendEditorState({ type: 'editor_state' });
    await until(() => known('editor_state').length === 2);
    server.renamesKnownUntil = 12;
    await reconnected();
    expect(connection.renamesKnownUntil).toBe(12);
    expect(known('hello')).toEqual([undefined, 9]);
    expect(known('editor_state')).toEqual([0, 9, 9]);
  });

  it('keeps which sessions wait for the user, for who asks later', async () => {
    await connected();
    const onChanged = jest.fn();
    connection.waitingChanged.connect(onChanged);
    const sessions = [{ sessionId: 's', title: 'Cars' }];
    server.send({ type: 'sessions_waiting', sessions });
    await until(() => onChanged.mock.calls.length > 0);
    expect(connection.waiting).toEqual(sessions);
  });

  it('opens one connection, however often it is asked to', async () => {
    connection.connect();
    connection.connect();
    await connected();
    expect(server.sockets).toHaveLength(1);
  });

  it('submits an op and returns its id', async () => {
    const reply = connection.submit('s', { type: 'interrupt' });
    await until(() => server.of('submit_op').length > 0);
    const [{ ref, sessionId, op }] = server.of('submit_op');
    expect([sessionId, op]).toEqual(['s', { type: 'interrupt' }]);
    server.send({ type: 'op_accepted', ref, opId: 'op_1' });
    await expect(reply).resolves.toBe('op_1');
  });

  it('rejects an op with the reason of the server', async () => {
    const reply = connection.submit('s', { type: 'interrupt' });
    await until(() => server.of('submit_op').length > 0);
    const [{ ref }] = server.of('submit_op');
    const error = { code: 'not_found', message: 'No session s.' } as const;
    server.send({ type: 'op_rejected', ref, error });
    await expect(reply).rejects.toMatchObject(error);
  });

  it('rejects an op that is larger than the server takes, and stays connected', async () => {
    await connected();
    const op = (message: string) =>
      ({ type: 'user_message', request: { message } }) as const;
    // Each of these characters is three bytes.
    const reply = connection.submit('s', op('€'.repeat(400_000)));
    await expect(reply).rejects.toMatchObject({ code: 'too_large' });
    const accepted = connection.submit('s', op('e'.repeat(400_000)));
    await until(() => server.of('submit_op').length > 0);
    const [{ ref }] = server.of('submit_op');
    server.send({ type: 'op_accepted', ref, opId: 'op_1' });
    await accepted;
    expect(server.of('submit_op')).toHaveLength(1);
    expect(server.sockets).toHaveLength(1);
  });

  it('connects again to a server that found it too slow, and goes on behind what it has', async () => {
    const seen: number[] = [];
    await connected();
    connection.subscribe('s', 0, ({ seq }) => seen.push(seq));
    await until(() => server.of('subscribe').length > 0);
    server.send({ type: 'event', sessionId: 's', event: delta(1) });
    await until(() => seen.length > 0);
    server.sockets[0].close(1013, 'The page reads too slowly. Connect again.');
    await until(() => server.of('subscribe').length > 1);
    expect(server.of('subscribe')[1].after).toBe(1);
    server.send({ type: 'event', sessionId: 's', event: delta(2) });
    await until(() => seen.length > 1);
    expect(seen).toEqual([1, 2]);
  });

  it('sends an op again that was on its way when the connection broke', async () => {
    await connected();
    const reply = connection.submit('s', { type: 'interrupt' });
    await until(() => server.of('submit_op').length > 0);
    await reconnected();
    await until(() => server.of('submit_op').length > 1);
    const [first, second] = server.of('submit_op');
    expect(second).toEqual({ ...first, again: true });
    server.send({ type: 'op_accepted', ref: first.ref, opId: 'op_1' });
    await expect(reply).resolves.toBe('op_1');
  });

  it('rejects an op at once while the server cannot be reached', async () => {
    await connected();
    const attempts: number[] = [];
    connection.reconnecting.connect((_, { attempt }) => attempts.push(attempt));
    const comeBack = await server.goAway();
    await until(() => connection.status === 'reconnecting');
    await expect(
      connection.submit('s', { type: 'interrupt' })
    ).rejects.toMatchObject({ code: 'unreachable' });
    await until(() => attempts.length >= 3);
    expect(attempts.slice(0, 3)).toEqual([1, 2, 3]);
    await comeBack();
    await until(() => connection.status === 'connected');
  });

  it('rejects an op when the first connection fails', async () => {
    await server.goAway();
    const reply = connection.submit('s', { type: 'interrupt' });
    await expect(reply).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('delivers each event once, in order, over a broken connection', async () => {
    const seen: number[] = [];
    connection.subscribe('s', 0, event => seen.push(event.seq));
    await until(() => server.of('subscribe').length > 0);
    for (const seq of [1, 2]) {
      server.send({ type: 'event', sessionId: 's', event: delta(seq) });
    }
    await until(() => seen.length === 2);
    await reconnected();
    await until(() => server.of('subscribe').length > 1);
    expect(server.of('subscribe')[1].after).toBe(2);
    for (const seq of [2, 3]) {
      server.send({ type: 'event', sessionId: 's', event: delta(seq) });
    }
    await until(() => seen.length === 3);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('gives a later listener the events that an earlier one has seen', async () => {
    const first: number[] = [];
    const second: number[] = [];
    connection.subscribe('s', 0, event => first.push(event.seq));
    await connected();
    server.send({ type: 'event', sessionId: 's', event: delta(1) });
    await until(() => first.length === 1);
    const subscription = connection.subscribe('s', 0, event =>
      second.push(event.seq)
    );
    await until(() => server.of('subscribe').length === 2);
    server.send({ type: 'event', sessionId: 's', event: delta(1) });
    await until(() => second.length === 1);
    expect(first).toEqual([1]);
    subscription.dispose();
    expect(server.of('unsubscribe')).toHaveLength(0);
  });

  it('unsubscribes with the last listener', async () => {
    await connected();
    const subscription = connection.subscribe('s', 0, () => undefined);
    subscription.dispose();
    await until(() => server.of('unsubscribe').length === 1);
  });

  it('keeps the editor state for a connection that comes later', async () => {
    connection.sendEditorState({ type: 'editor_state', notebooks: [] });
    await connected();
    await until(() => server.of('editor_state').length === 1);
    await reconnected();
    await until(() => server.of('editor_state').length === 2);
  });

  describe('requests of the server', () => {
    const request: PageRequest = {
      type: 'request',
      requestId: 'r1',
      method: 'notebook.read',
      params: { path: 'a.ipynb' }
    };

    it('are answered with what the handler returns', async () => {
      connection.onRequest(async ({ params }, progress) => {
        progress('c', 'started');
        return { read: params.path };
      });
      await connected();
      server.send(request);
      await until(() => server.of('response').length === 1);
      expect(server.of('progress')).toEqual([
        { type: 'progress', requestId: 'r1', cellId: 'c', state: 'started' }
      ]);
      expect(server.of('response')[0]).toEqual({
        type: 'response',
        requestId: 'r1',
        ok: true,
        result: { read: 'a.ipynb' }
      });
    });

    it('are carried out once, and answered again after a broken connection', async () => {
      let calls = 0;
      let finish: (value: unknown) => void = () => undefined;
      connection.onRequest(() => {
        calls += 1;
        return new Promise(resolve => (finish = resolve));
      });
      await connected();
      server.send(request);
      await until(() => calls === 1);
      await reconnected();
      expect(server.of('hello')[1].pendingRequestIds).toEqual(['r1']);
      server.send(request);
      finish('done');
      await until(() => server.of('response').length > 0);
      const answered = server.of('response').length;
      await reconnected();
      await until(() => server.of('response').length > answered);
      expect(calls).toBe(1);
      expect(server.of('response').at(-1)).toMatchObject({
        requestId: 'r1',
        ok: true,
        result: 'done'
      });
    });

    /** Accept the request, and never answer it; whether it is abandoned. */
    async function acceptForever(): Promise<() => boolean> {
      let abandoned: AbortSignal | undefined;
      connection.onRequest((_, __, signal) => {
        abandoned = signal;
        return new Promise(() => undefined);
      });
      await connected();
      server.send(request);
      await until(() => abandoned !== undefined);
      return () => abandoned!.aborted;
    }

    it('are abandoned once a server says that it does not wait for them', async () => {
      const isAbandoned = await acceptForever();
      server.awaitedRequestIds = ['r1'];
      await reconnected();
      expect(isAbandoned()).toBe(false);
      // As one that was started again, or has given the page up.
      server.awaitedRequestIds = [];
      await reconnected();
      expect(isAbandoned()).toBe(true);
    });

    it('are abandoned when no server is there for as long as it would wait', async () => {
      server.returnMs = 50;
      const isAbandoned = await acceptForever();
      const comeBack = await server.goAway();
      await until(isAbandoned);
      await comeBack();
    });

    it('are answered with a failure where the answer is larger than the server takes', async () => {
      connection.onRequest(async () => '€'.repeat(400_000));
      await connected();
      server.send(request);
      await until(() => server.of('response').length === 1);
      const [{ ok, error }] = server.of('response');
      expect(ok).toBe(false);
      expect(error?.message).toContain('too large to be sent');
      expect(server.sockets).toHaveLength(1);
    });

    it('fail as internal when the handler throws', async () => {
      const log = jest.spyOn(console, 'error').mockImplementation();
      connection.onRequest(async () => {
        throw new Error('broken');
      });
      await connected();
      server.send(request);
      await until(() => server.of('response').length === 1);
      expect(server.of('response')[0]).toMatchObject({
        ok: false,
        error: { code: 'internal', message: 'broken' }
      });
      expect(log).toHaveBeenCalled();
      log.mockRestore();
    });
  });
});
