import { IOpenChat, OpenChats, wasAsked } from '../openChats';
import { InlineSessions } from '../sessions';
import { FakeClient, FakeMemory } from '../../panel/__tests__/fakes';

const CHAT: IOpenChat = {
  sessionId: 'ses_1',
  opId: 'op',
  after: 3,
  message: 'Ten',
  shown: 'Ten',
  cellId: 'c1',
  where: 'above',
  base: 'x = 1',
  done: []
};

it('remembers the chats of a document, one for a place', async () => {
  const memory = new FakeMemory();
  const chats = new OpenChats(memory);
  chats.keep(CHAT);
  chats.keep({ ...CHAT, cellId: 'c2' });
  chats.keep({ ...CHAT, message: 'Twenty' });
  chats.decided(CHAT, 'cell 0 c1');
  chats.rejected(CHAT, 'cell 1 c1', [0]);
  chats.rejected(CHAT, 'cell 1 c1', [0, 2]);
  chats.forget({ ...CHAT, cellId: 'c2' });
  const kept = [
    {
      ...CHAT,
      message: 'Twenty',
      done: ['cell 0 c1'],
      rejected: { 'cell 1 c1': [0, 2] }
    }
  ];
  expect(await chats.all()).toEqual(kept);
  expect(await new OpenChats(memory).all()).toEqual(kept);
});

it('remembers what is typed, asked before or not, until it is sent or deleted', async () => {
  const memory = new FakeMemory();
  const chats = new OpenChats(memory);
  const other = { cellId: 'c2', where: 'above' } as const;
  chats.keep(CHAT);
  chats.draft(CHAT, 'And now');
  chats.draft(other, 'Tw');
  chats.draft(other, 'Two');
  await chats.all();
  const [first, second] = await new OpenChats(memory).all();
  expect(first).toEqual({ ...CHAT, draft: 'And now' });
  expect(second).toMatchObject({ ...other, draft: 'Two' });
  expect([first, second].map(wasAsked)).toEqual([true, false]);
  chats.draft(CHAT, '');
  chats.draft(other, '');
  await chats.all();
  expect(await new OpenChats(memory).all()).toEqual([CHAT]);
});

it('remembers none on a text that is too long to be kept by the page', async () => {
  const memory = new FakeMemory();
  const chats = new OpenChats(memory);
  chats.keep(CHAT);
  chats.keep({ ...CHAT, base: 'x'.repeat(100_001) });
  expect(await chats.all()).toEqual([]);
  expect(await memory.load()).toBeNull();
});

it('goes with a document that is renamed, and so does its session', async () => {
  const memories = new Map<string, FakeMemory>();
  const at = (key: string) => {
    memories.set(key, memories.get(key) ?? new FakeMemory());
    return memories.get(key)!;
  };
  const client = new FakeClient();
  const sessions = new InlineSessions(client, at);
  const { id } = await sessions.of('old.py');
  const chat = { ...CHAT, sessionId: id };
  sessions.openChats('old.py').keep(chat);
  sessions.decided.note('old.py', {
    kind: 'file',
    target: 'old.py',
    outcome: 'rejected'
  });
  // Both of two views tell it.
  await Promise.all([
    sessions.moved('old.py', 'new.py'),
    sessions.moved('old.py', 'new.py')
  ]);
  expect(await sessions.openChats('new.py').all()).toEqual([chat]);
  expect((await sessions.of('new.py')).id).toBe(id);
  expect(sessions.decided.of('new.py')).toHaveLength(1);
  expect(sessions.decided.of('old.py')).toEqual([]);

  // And for the page that is loaded next.
  const later = new InlineSessions(client, at);
  expect(await later.openChats('new.py').all()).toEqual([chat]);
  expect(await later.openChats('old.py').all()).toEqual([]);
  expect(await later.has('new.py', id)).toBe(true);
  expect(await later.has('old.py', id)).toBe(false);
});
