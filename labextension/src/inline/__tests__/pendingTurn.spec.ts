import { Event } from '../../api/types';
import { PendingTurn } from '../pendingTurn';

const event = (fields: object) => fields as Event;
const started = (opId: string, turnId: string) =>
  event({ type: 'turn_started', opId, turnId });
const delta = (turnId: string) => event({ type: 'text_delta', turnId });

describe('OurTurn', () => {
  it('is the turn of the op, also where that is known only later', () => {
    const turn = new PendingTurn();
    turn.begin();
    const events = [started('a', '1'), started('b', '2'), delta('2')];
    expect(events.map(each => turn.has(each))).toEqual([false, false, false]);
    expect(turn.queued).toBeNull();
    const early = turn.accepted('b');
    expect(turn.queued).toBe('b');
    expect(early.map(each => turn.has(each))).toEqual([false, true, true]);
    expect([turn.isRunning, turn.queued]).toEqual([true, null]);
    turn.end();
    expect(turn.has(delta('2'))).toBe(false);
  });

  it('ends with a refusal of its own message, and not of another one', () => {
    const turn = new PendingTurn();
    const refused = (opId: string) => event({ type: 'error', opId });
    turn.begin();
    turn.accepted('b');
    expect(turn.has(refused('a'))).toBe(false);
    expect(turn.has(event({ type: 'error' }))).toBe(false);
    expect(turn.has(refused('b'))).toBe(true);
    turn.end();
    expect(turn.has(refused('b'))).toBe(false);
  });

  it('is none of those that others began', () => {
    const turn = new PendingTurn();
    expect(turn.has(started('a', '1'))).toBe(false);
    expect(turn.has(delta('1'))).toBe(false);
    expect(turn.isRunning).toBe(false);
  });
});
