import { EventInput } from '../../panel/__tests__/fakes';
import { turnRecord } from '../../panel/__tests__/samples';
import { ConversationStore, fromHistory } from '../store';
import { STARTED, call, numbered } from './events';

const DONE: EventInput = {
  type: 'turn_completed',
  durationMs: 1,
  usage: {
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    totalTokens: 0,
    sessionTokens: 0,
    estimated: false
  }
};

describe('ConversationStore', () => {
  it('takes every event once, however often it comes', () => {
    const store = new ConversationStore();
    const events = numbered([
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'once' }
    ]);
    [...events, ...events].forEach(event => store.apply(event));
    expect(store.turn('turn_1').current.entries).toMatchObject([
      { text: 'once' }
    ]);
    expect(store.conversation.current.turnIds).toEqual(['turn_1']);
  });

  it('leaves the list and the other turns alone when text arrives', () => {
    const store = new ConversationStore();
    numbered([
      { ...STARTED, turnId: 'old' },
      { ...DONE, turnId: 'old' },
      STARTED
    ]).forEach(event => store.apply(event));
    const list = store.conversation.current;
    const old = store.turn('old').current;
    numbered([{ type: 'text_delta', itemId: 'a', delta: 'x' }], 4).forEach(
      event => store.apply(event)
    );
    expect(store.conversation.current).toBe(list);
    expect(store.turn('old').current).toBe(old);
  });

  it('notifies its listeners once a frame, with the newest state', async () => {
    const store = new ConversationStore();
    const turn = store.turn('turn_1');
    let notified = 0;
    turn.subscribe(() => (notified += 1));
    numbered([
      STARTED,
      ...Array.from({ length: 50 }, () => ({
        type: 'text_delta' as const,
        itemId: 'a',
        delta: 'x'
      }))
    ]).forEach(event => store.apply(event));
    await new Promise(requestAnimationFrame);
    expect(notified).toBe(1);
    expect(turn.current.entries).toMatchObject([{ text: 'x'.repeat(50) }]);
  });

  it('holds a waiting message until its turn begins or it is taken back', () => {
    const store = new ConversationStore();
    const events = numbered([
      STARTED,
      { type: 'op_queued', opId: 'op_1', message: 'first' },
      { type: 'op_queued', opId: 'op_2', message: 'second' },
      { type: 'op_dequeued', opId: 'op_2', reason: 'removed' }
    ]);
    events.forEach(event => store.apply(event));
    expect(store.conversation.current.queued).toEqual([
      { opId: 'op_1', message: 'first' }
    ]);
    numbered([DONE, { ...STARTED, turnId: 'turn_2', opId: 'op_1' }], 5).forEach(
      event => store.apply(event)
    );
    expect(store.conversation.current).toMatchObject({
      queued: [],
      runningTurnId: 'turn_2',
      turnIds: ['turn_1', 'turn_2']
    });
  });

  it('puts older turns before the newer, each once', () => {
    const store = new ConversationStore();
    store.prepend([turnRecord({ id: 't3' }), turnRecord({ id: 't4' })]);
    store.prepend([turnRecord({ id: 't2' }), turnRecord({ id: 't3' })]);
    expect(store.conversation.current.turnIds).toEqual(['t2', 't3', 't4']);
  });
});

describe('a turn of the history', () => {
  it('looks as it did live', () => {
    const events = numbered([
      STARTED,
      ...call('c1', 'runNotebookCells', 'ok', { summary: 'Ran cell 5' }),
      { type: 'text_delta', itemId: 'a', delta: 'It is 104.5' },
      DONE
    ]);
    const live = new ConversationStore();
    events.forEach(event => live.apply(event));
    const loaded = fromHistory(
      turnRecord({
        id: 'turn_1',
        mode: 'agent',
        notebookMode: 'full',
        message: 'Find the mean',
        events: events as unknown as { [key: string]: unknown }[]
      })
    );
    expect(loaded).toEqual(live.turn('turn_1').current);
  });

  it('is aborted where the server died in it, with what it had', () => {
    const events = numbered([
      STARTED,
      ...call('c1', 'runNotebookCells', 'running')
    ]);
    const turn = fromHistory(
      turnRecord({
        id: 'turn_1',
        status: 'aborted',
        // The clock was set back meanwhile.
        startedAt: 9000,
        endedAt: 2000,
        durationMs: 1500,
        events: events as unknown as { [key: string]: unknown }[]
      })
    );
    expect(turn).toMatchObject({
      status: 'aborted',
      abortReason: 'shutdown',
      durationMs: 1500,
      entries: [{ status: 'aborted' }]
    });
  });

  it('is drawn from its record where it has no events', () => {
    const turn = fromHistory(
      turnRecord({
        id: 't',
        message: 'Hello',
        reply: 'Hi',
        toolCalls: [{ callId: 'c', name: 'getCellOutputs', status: 'ok' }]
      })
    );
    expect(turn.entries.map(entry => entry.kind)).toEqual(['tool', 'text']);
    expect(turn.status).toBe('completed');
    const message = 'Nothing was changed in this turn.';
    const claimed = fromHistory(
      turnRecord({
        id: 't',
        reply: 'The chart is below.',
        notDone: { kind: 'nothing_done', message }
      })
    );
    expect(claimed.entries).toMatchObject([
      { kind: 'notice', level: 'warning', message },
      { text: 'The chart is below.' }
    ]);
  });
});
