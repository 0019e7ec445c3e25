import { incompleteNotice } from '../finalReply';
import { reduceTurn } from '../reduceTurn';
import { IToolEntry, waitingIn } from '../turn';
import { endLabel } from '../turnLabels';
import { STARTED, call, numbered, turnAfter, USAGE } from './events';

describe('a turn from its events', () => {
  it('begins with what the user wrote', () => {
    const turn = turnAfter(STARTED);
    expect(turn.message).toBe('Find the mean');
    expect(turn.mode).toBe('agent');
    expect(turn.status).toBe('running');
  });

  it('joins the deltas of an item and keeps the order in which items came up', () => {
    const turn = turnAfter(
      STARTED,
      { type: 'reasoning_delta', itemId: 'r', delta: 'Hm' },
      { type: 'text_delta', itemId: 'a', delta: 'The ' },
      { type: 'text_delta', itemId: 'a', delta: 'mean' },
      ...call('c1', 'getNotebookCells'),
      { type: 'text_delta', itemId: 'b', delta: 'is 1' }
    );
    expect(turn.entries.map(entry => [entry.kind, entry.id])).toEqual([
      ['reasoning', 'r'],
      ['text', 'a'],
      ['tool', 'c1'],
      ['text', 'b']
    ]);
    expect(turn.entries[1]).toMatchObject({ text: 'The mean' });
  });

  it('makes anew only the entry that a delta is about', () => {
    const before = turnAfter(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'One' },
      { type: 'text_delta', itemId: 'b', delta: 'Two' }
    );
    const [event] = numbered(
      [{ type: 'text_delta', itemId: 'b', delta: ' more' }],
      9
    );
    const after = reduceTurn(before, event);
    expect(after.entries[0]).toBe(before.entries[0]);
    expect(after.entries[1]).not.toBe(before.entries[1]);
  });

  it('takes back what a retried stream had shown', () => {
    const turn = turnAfter(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'Cut of' },
      { type: 'item_discarded', itemId: 'a' },
      { type: 'model_started', model: 'm', attempt: 2 },
      { type: 'text_delta', itemId: 'b', delta: 'Cut off no more' }
    );
    expect(turn.entries.map(entry => entry.id)).toEqual(['b']);
  });

  it('shows text that turned out to be reasoning as that', () => {
    const turn = turnAfter(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'A plan.\n' },
      { type: 'item_discarded', itemId: 'a', reason: 'reasoning' },
      { type: 'reasoning_delta', itemId: 'a_r', delta: 'A plan.' },
      { type: 'text_delta', itemId: 'a', delta: '42' }
    );
    expect(turn.entries).toEqual([
      { kind: 'reasoning', id: 'a_r', text: 'A plan.' },
      { kind: 'text', id: 'a', text: '42' }
    ]);
  });

  it('shows what is kept of an answer that repeated itself, once', () => {
    const turn = turnAfter(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'So it is. So it is. So ' },
      { type: 'item_discarded', itemId: 'a' },
      { type: 'text_delta', itemId: 'a', delta: 'So it is.' },
      { type: 'warning', code: 'repetition', message: 'Ended.' },
      { type: 'final_reply', text: 'So it is.' },
      { type: 'turn_completed', durationMs: 9, usage: USAGE }
    );
    expect(turn.entries).toMatchObject([
      { kind: 'text', text: 'So it is.' },
      { kind: 'notice', message: 'Ended.' }
    ]);
    expect(incompleteNotice(turn)?.code).toBe('repetition');
    expect(endLabel(turn)).toBe('Ended.');
  });

  it('marks what a failure cut off, and does not count the time without a server', () => {
    const turn = turnAfter(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'Cut of' },
      {
        type: 'error',
        code: 'model_error',
        message: 'Gone.',
        retryable: true,
        itemId: 'a'
      },
      { type: 'turn_aborted', reason: 'error', durationMs: 1200 }
    );
    expect(turn.entries[0]).toMatchObject({ text: 'Cut of', isBroken: true });
    expect(turn.durationMs).toBe(1200);
  });

  it('takes back a call of a broken stream, but never one that has its result', () => {
    const turn = turnAfter(
      STARTED,
      ...call('c1', 'getNotebookCells'),
      ...call('c2', 'runNotebookCells', 'running'),
      { type: 'item_discarded', itemId: 'c1' },
      { type: 'item_discarded', itemId: 'c2' }
    );
    expect(turn.entries.map(entry => entry.id)).toEqual(['c1']);
  });

  it('keeps a call with its arguments, result and summary', () => {
    const turn = turnAfter(
      STARTED,
      ...call('c1', 'runNotebookCells', 'error', {
        arguments: { cellIds: ['x'] },
        summary: "Cell 6 failed: KeyError 'Horsepowr'"
      })
    );
    expect(turn.entries[0]).toMatchObject({
      status: 'error',
      arguments: { cellIds: ['x'] },
      summary: "Cell 6 failed: KeyError 'Horsepowr'",
      durationMs: 12
    });
  });

  it('shows a result of which the beginning was not seen', () => {
    const [, , output] = call('c1', 'getNotebookCells');
    expect(turnAfter(STARTED, output).entries[0]).toMatchObject({
      kind: 'tool',
      status: 'ok'
    });
  });

  it.each([
    ['that it names', 'c2'],
    ['that runs, where an older event names none', undefined]
  ])('gives changes to the call %s', (_, callId) => {
    const turn = turnAfter(
      STARTED,
      ...call('c1', 'updateNotebookCell', callId ? 'running' : 'ok'),
      ...call('c2', 'updateNotebookCell', 'running'),
      ...call('c3', 'getNotebookCells', 'running'),
      {
        type: 'document_changed',
        path: 'a.ipynb',
        changes: [{ path: 'a.ipynb', op: 'update', cellId: 'x', index: 0 }],
        callId
      }
    );
    const calls = turn.entries as IToolEntry[];
    expect(calls.map(({ changes }) => changes.length)).toEqual([0, 1, 0]);
    expect(turn.changes).toHaveLength(1);
  });

  it('waits for the user until the approval is resolved', () => {
    const asked = turnAfter(
      STARTED,
      ...call('c1', 'deleteNotebookCells', 'running'),
      {
        type: 'approval_requested',
        approvalId: 'ap',
        callId: 'c1',
        name: 'deleteNotebookCells',
        arguments: {},
        reason: 'Deletes cells',
        destructive: true
      }
    );
    expect(waitingIn(asked)).toHaveLength(1);
    const [resolved] = numbered(
      [{ type: 'approval_resolved', approvalId: 'ap', decision: 'deny' }],
      20
    );
    const after = reduceTurn(asked, resolved);
    expect(waitingIn(after)).toHaveLength(0);
    expect(after.entries[1]).toMatchObject({ decision: 'deny' });
  });

  it('closes a question when the call that asked it has its answer', () => {
    const turn = turnAfter(
      STARTED,
      ...call('c1', 'askUser', 'running'),
      { type: 'user_input_requested', requestId: 'q', question: 'Which?' },
      call('c1', 'askUser')[2]
    );
    expect(waitingIn(turn)).toHaveLength(0);
  });

  it('shows a whole answer that was not streamed, and one that was only once', () => {
    const whole = turnAfter(STARTED, { type: 'final_reply', text: 'Done.' });
    expect(whole.entries).toMatchObject([{ kind: 'text', text: 'Done.' }]);
    const streamed = turnAfter(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'Done.' },
      { type: 'final_reply', text: 'Done.' }
    );
    expect(streamed.entries).toHaveLength(1);
  });

  it('puts what was not done above the answer that is silent about it', () => {
    const message = 'The last change failed: No cell with id x.';
    const notDone = { kind: 'change_failed', message } as const;
    const streamed = turnAfter(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'I add it.' },
      ...call('c1', 'addNotebookCell', 'error'),
      { type: 'text_delta', itemId: 'b', delta: 'It is added.' },
      { type: 'final_reply', text: 'It is added.', notDone }
    );
    expect(streamed.entries).toMatchObject([
      { text: 'I add it.' },
      { kind: 'tool' },
      { kind: 'notice', level: 'warning', message },
      { text: 'It is added.' }
    ]);
    const whole = turnAfter(STARTED, {
      type: 'final_reply',
      text: 'Done.',
      notDone
    });
    expect(whole.entries).toMatchObject([
      { kind: 'notice' },
      { text: 'Done.' }
    ]);
  });

  it('leaves nothing running or waiting when it was stopped', () => {
    const turn = turnAfter(
      STARTED,
      ...call('c1', 'runNotebookCells', 'running'),
      { type: 'user_input_requested', requestId: 'q', question: 'Which?' },
      { type: 'turn_aborted', reason: 'interrupted' }
    );
    expect(turn.status).toBe('aborted');
    expect(turn.entries[0]).toMatchObject({ status: 'aborted' });
    expect(turn.entries[1]).toMatchObject({ open: false });
    expect(waitingIn(turn)).toHaveLength(0);
  });

  it('ends with its usage and times', () => {
    const turn = turnAfter(STARTED, {
      type: 'turn_completed',
      durationMs: 1200,
      timeToFirstTokenMs: 90,
      usage: USAGE
    });
    expect(turn).toMatchObject({
      status: 'completed',
      durationMs: 1200,
      firstTokenMs: 90,
      usage: USAGE
    });
  });
});
