import { abortLabel, activityLabel, doneAndNot } from '../turnLabels';
import { STARTED, call, turnAfter } from './events';

const numbers: Record<string, number> = { x: 5, y: 6 };
const cellNumber = (_path: string | undefined, id: string) =>
  numbers[id] ?? null;

describe('words for what goes on', () => {
  it('say that it thinks, writes, reconnects', () => {
    const words = (...events: Parameters<typeof turnAfter>) =>
      activityLabel(turnAfter(STARTED, ...events), cellNumber);
    expect(words({ type: 'model_started', model: 'm', attempt: 1 })).toBe(
      'Thinking'
    );
    expect(words({ type: 'model_started', model: 'm', attempt: 3 })).toBe(
      'Reconnecting 2 of 5'
    );
    expect(words({ type: 'text_delta', itemId: 'a', delta: 'x' })).toBe(
      'Writing'
    );
    expect(words({ type: 'status', message: 'Waiting for the kernel' })).toBe(
      'Waiting for the kernel'
    );
    expect(
      words({ type: 'user_input_requested', requestId: 'q', question: '?' })
    ).toBe('Waiting for your answer');
  });
});

describe('words for a stopped turn', () => {
  it('say what was done and what was not', () => {
    const turn = turnAfter(
      STARTED,
      ...call('a', 'updateNotebookCell', 'running'),
      {
        type: 'document_changed',
        path: 'a.ipynb',
        changes: [{ path: 'a.ipynb', op: 'update', cellId: 'x', index: 4 }]
      },
      call('a', 'updateNotebookCell')[2],
      ...call('b', 'runNotebookCells', 'running', {
        arguments: { cellIds: ['x'] }
      }),
      { type: 'turn_aborted', reason: 'interrupted' }
    );
    expect(abortLabel(turn)).toBe('Stopped.');
    expect(doneAndNot(turn, cellNumber)).toEqual({
      done: ['changed cell 5'],
      not: ['running cell 5'],
      hadBegun: true
    });
  });
});
