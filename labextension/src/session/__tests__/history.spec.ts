import { Event } from '../../api/types';
import { turnRecord } from '../../panel/__tests__/samples';
import { markedParts } from '../../ui/marks';
import { ConversationStore } from '../store';
import { foldWithdrawn } from '../reverted';

function event(fields: object, seq: number): Event {
  return { at: 1, seq, ...fields } as Event;
}

describe('turns that were taken back', () => {
  it('are folded together where they follow each other', () => {
    expect(foldWithdrawn(['a', 'b', 'c', 'd'], new Set(['b', 'c']))).toEqual([
      { ids: ['a'], isWithdrawn: false },
      { ids: ['b', 'c'], isWithdrawn: true },
      { ids: ['d'], isWithdrawn: false }
    ]);
    expect(foldWithdrawn([], new Set())).toEqual([]);
  });

  it('are known from the history and from what happens', () => {
    const store = new ConversationStore();
    store.prepend([
      turnRecord({ id: 'a' }),
      turnRecord({ id: 'b', withdrawnAt: 5 })
    ]);
    store.append([turnRecord({ id: 'c' })]);
    store.apply(
      event(
        {
          type: 'went_back',
          toTurnId: 'a',
          includeTurn: false,
          withdrawn: ['c'],
          documents: false,
          left: []
        },
        9
      )
    );
    const { turnIds, withdrawn } = store.conversation.current;
    expect(turnIds).toEqual(['a', 'b', 'c']);
    expect([...withdrawn]).toEqual(['b', 'c']);
  });
});

describe('a session that was cleared', () => {
  it('has its title and settings, and nothing that was said', () => {
    const store = new ConversationStore();
    store.conversation.patch({ title: 'Cars', settings: { mode: 'agent' } });
    store.prepend([turnRecord({ id: 'a', message: 'Hello' })]);
    store.apply(event({ type: 'session_reset' }, 9));
    expect(store.conversation.current).toMatchObject({
      title: 'Cars',
      settings: { mode: 'agent' },
      turnIds: []
    });
    expect(store.turn('a').current.message).toBe('');
  });
});

describe('a compaction', () => {
  const compacted = {
    type: 'context_compacted',
    before: 12,
    after: 2,
    how: 'summary',
    tokensBefore: 20_000,
    tokensAfter: 3000,
    summary: 'They load cars.'
  };

  it('is in the turn that needed it', () => {
    const store = new ConversationStore();
    store.apply(
      event({ type: 'turn_started', turnId: 'a', message: 'Hi', tools: [] }, 1)
    );
    store.apply(event({ ...compacted, turnId: 'a' }, 2));
    expect(store.turn('a').current.entries).toMatchObject([
      { kind: 'compacted', how: 'summary', turns: { before: 12, after: 2 } }
    ]);
  });

  it('that a user asked for is at the end of the newest turn', () => {
    const store = new ConversationStore();
    store.prepend([turnRecord({ id: 'a' }), turnRecord({ id: 'b' })]);
    store.apply(event(compacted, 9));
    const { entries } = store.turn('b').current;
    expect(entries[entries.length - 1]).toMatchObject({
      kind: 'compacted',
      summary: 'They load cars.'
    });
  });
});

describe('what was looked for', () => {
  it('is marked in a text', () => {
    expect(markedParts('the mean of means', [{ start: 4, end: 8 }])).toEqual([
      { text: 'the ', isMarked: false },
      { text: 'mean', isMarked: true },
      { text: ' of means', isMarked: false }
    ]);
  });

  it('may be marked twice, or outside the text', () => {
    const marks = [
      { start: 3, end: 99 },
      { start: 1, end: 4 }
    ];
    expect(markedParts('abcdef', marks)).toEqual([
      { text: 'a', isMarked: false },
      { text: 'bcd', isMarked: true },
      { text: 'ef', isMarked: true }
    ]);
  });
});
