import { PlanStep } from '../../api/types';
import { EventInput } from '../../panel/__tests__/fakes';
import { abortLabel, activityLabel, doneAndNot, endLabel } from '../turnLabels';
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

describe('words for the end of a turn', () => {
  const COMPLETED = { type: 'turn_completed', durationMs: 1 };
  const ended = (...events: object[]) =>
    endLabel(turnAfter(...([STARTED, ...events, COMPLETED] as EventInput[])));
  const reply = { type: 'final_reply', text: 'It is added.' };
  const planned = (state: string | undefined, ...statuses: string[]) => ({
    type: 'plan_updated',
    state,
    steps: statuses.map(
      (status, index) =>
        ({ description: `Step ${index}`, toolCalls: [], status }) as PlanStep
    )
  });
  const started = {
    type: 'action_started',
    service: 'notebook',
    action: 'export',
    title: 'Export the notebook'
  };
  const finished = (status: string) => ({
    type: 'action_finished',
    status,
    output: '',
    paths: []
  });

  it('say Done where all is done', () => {
    expect(ended(reply)).toBe('Done.');
    expect(ended(planned('completed', 'completed', 'completed'))).toBe('Done.');
    expect(ended(planned(undefined, 'completed'))).toBe('Done.');
    expect(ended(started, finished('ok'))).toBe('Done.');
  });

  it('say that nothing was changed or run, where the results say so', () => {
    const message = 'Nothing was changed or run in this turn.';
    const none = { changed: 0, runs: 0, errors: 0, otherCalls: 0, message };
    expect(ended({ ...reply, facts: none })).toBe(message);
    const acted = { ...none, changed: 1, message: '1 change' };
    expect(ended({ ...reply, facts: acted })).toBe('Done.');
  });

  it('say what was not done, whatever the answer says', () => {
    const message = 'Nothing was changed.';
    expect(
      ended({ ...reply, notDone: { kind: 'nothing_done', message } })
    ).toBe(message);
    expect(ended(planned('stopped', 'completed', 'failed', 'pending'))).toBe(
      '1 of 3 steps done.'
    );
    expect(ended(planned(undefined, 'completed', 'in_progress'))).toBe(
      '1 of 2 steps done.'
    );
    expect(ended(planned('rejected', 'pending'))).toBe('Plan not approved.');
    expect(ended(started, finished('error'))).toBe(
      'Failed: Export the notebook.'
    );
    expect(ended(started, finished('cancelled'))).toBe(
      'Cancelled: Export the notebook.'
    );
    expect(
      endLabel(
        turnAfter(STARTED, { type: 'turn_aborted', reason: 'interrupted' })
      )
    ).toBe('Stopped.');
  });

  it('call an action that waits to be run proposed', () => {
    const title = 'Export the notebook';
    expect(ended({ type: 'action_proposed', proposalId: 'p1', title })).toBe(
      'Proposed: Export the notebook.'
    );
  });
});
