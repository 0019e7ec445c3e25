import { Entry, ITurn } from './turn';

/** The turn with one more entry. */
export function append(turn: ITurn, entry: Entry): ITurn {
  return { ...turn, entries: [...turn.entries, entry] };
}

/** The index of an entry, -1 where there is none; the newest first, since events are nearly always about it. */
export function find(turn: ITurn, id: string): number {
  for (let i = turn.entries.length - 1; i >= 0; i--) {
    if (turn.entries[i].id === id) {
      return i;
    }
  }
  return -1;
}

/** The turn with another entry in the place of that with the id; the turn itself where there is none. */
export function replace(
  turn: ITurn,
  id: string,
  change: (entry: Entry) => Entry | undefined
): ITurn {
  const index = find(turn, id);
  const next = index < 0 ? undefined : change(turn.entries[index]);
  if (!next) {
    return turn;
  }
  const entries = turn.entries.slice();
  entries[index] = next;
  return { ...turn, entries };
}

/** The turn with nothing left open: what still ran was cut off. */
export function settled(turn: ITurn): ITurn {
  return { ...turn, entries: turn.entries.map(settledEntry) };
}

function settledEntry(entry: Entry): Entry {
  if (entry.kind === 'tool' && entry.status === 'running') {
    return { ...entry, status: 'aborted' };
  }
  if (entry.kind === 'approval' && !entry.decision) {
    return { ...entry, decision: 'aborted' };
  }
  if (entry.kind === 'question' && entry.open) {
    return { ...entry, open: false };
  }
  if (entry.kind === 'action' && entry.status === 'running') {
    return { ...entry, status: 'cancelled' };
  }
  return entry;
}
