import { EventInput } from '../../panel/__tests__/fakes';
import {
  blockedSteps,
  isResumable,
  planWaits,
  skippedProposals,
  waitingProposal
} from '../plan';
import { STARTED, turnAfter } from './events';

type Plan = Extract<EventInput, { type: 'plan_updated' }>;

const plan = (
  state: Plan['state'],
  ...statuses: Plan['steps'][number]['status'][]
): Plan => ({
  type: 'plan_updated',
  state,
  steps: statuses.map((status, index) => ({
    description: `Step ${index + 1}`,
    toolCalls: [],
    status
  })),
  requiredTools: ['addNotebookCell'],
  estimatedDuration: 'a minute'
});

const RUNNING = plan('running', 'completed', 'in_progress');
const FIXING: EventInput = {
  type: 'recovery_started',
  index: 1,
  error: 'ZeroDivisionError',
  attempt: 1,
  maxAttempts: 2
};

describe('the plan of a turn', () => {
  it('waits for the action of its step, and offers what was skipped no more', () => {
    const waiting = plan('waiting', 'skipped', 'in_progress', 'pending');
    waiting.steps[0].proposalId = 'p0';
    waiting.steps[1].proposalId = 'p1';
    waiting.steps[2].dependencies = [0];
    const turn = turnAfter(STARTED, waiting);
    expect(planWaits(turn)).toBe(true);
    expect(waitingProposal(turn)).toBe('p1');
    expect(skippedProposals(turn.plan)).toContain('p0');
    expect(skippedProposals(turn.plan)).not.toContain('p1');
    const blocked = blockedSteps(turn.plan!.steps);
    expect([...blocked]).toEqual([[2, 0]]);
    expect(waitingProposal(turnAfter(STARTED, plan('running')))).toBe(
      undefined
    );
  });

  it('shows a fix at its step, and how it ended', () => {
    const turn = turnAfter(STARTED, RUNNING, FIXING);
    expect(turn.plan?.notes).toEqual({
      1: { kind: 'fixing', attempt: 1, maxAttempts: 2 }
    });
    const fixed = turnAfter(STARTED, RUNNING, FIXING, {
      type: 'recovery_finished',
      index: 1,
      success: true,
      message: 'used the column `Horsepower`'
    });
    expect(fixed.plan?.notes[1]).toEqual({
      kind: 'fixed',
      message: 'used the column `Horsepower`'
    });
  });

  it('says at the step why it failed, and forgets it when the step begins anew', () => {
    const failed: EventInput = {
      type: 'step_finished',
      index: 1,
      success: false,
      message: 'Cell 3 failed'
    };
    const stopped = turnAfter(STARTED, RUNNING, failed);
    expect(stopped.plan?.notes[1]).toEqual({
      kind: 'failed',
      message: 'Cell 3 failed',
      isFix: false
    });
    const again = turnAfter(STARTED, RUNNING, failed, {
      type: 'step_started',
      index: 1,
      total: 2,
      description: 'Step 2'
    });
    expect(again.plan?.notes).toEqual({});
  });

  it('keeps what is known of a step only as long as the step is the same', () => {
    const edited = plan('running', 'completed', 'pending');
    edited.steps[1].description = 'Another';
    const turn = turnAfter(STARTED, RUNNING, FIXING, edited);
    expect(turn.plan?.notes).toEqual({});
  });

  it("is not replaced by the model's own list within a step", () => {
    const own: EventInput = {
      type: 'plan_updated',
      steps: [{ description: 'Mine', toolCalls: [], status: 'pending' }]
    };
    expect(turnAfter(STARTED, RUNNING, own).plan?.steps).toHaveLength(2);
    expect(turnAfter(STARTED, own).plan?.steps).toHaveLength(1);
  });

  it("ends with its summary, behind the model's last words and without them", () => {
    const turn = turnAfter(
      STARTED,
      { type: 'text_delta', itemId: 'm', delta: 'Concluded.' },
      { type: 'final_reply', text: 'Concluded.\n\n**2 of 2 steps done**' }
    );
    expect(
      turn.entries.map(entry => entry.kind === 'text' && entry.text)
    ).toEqual(['Concluded.', '**2 of 2 steps done**']);
  });

  it('waits when it is proposed or paused, and as long as its turn runs', () => {
    expect(planWaits(turnAfter(STARTED, plan('proposed', 'pending')))).toBe(
      true
    );
    expect(planWaits(turnAfter(STARTED, plan('paused', 'pending')))).toBe(true);
    expect(planWaits(turnAfter(STARTED, RUNNING))).toBe(false);
  });

  it('can be taken up again when it stopped, or its server died', () => {
    const end: EventInput = { type: 'turn_aborted', reason: 'shutdown' };
    expect(isResumable(turnAfter(STARTED, RUNNING))).toBe(false);
    expect(isResumable(turnAfter(STARTED, RUNNING, end))).toBe(true);
    expect(
      isResumable(turnAfter(STARTED, plan('stopped', 'failed'), end))
    ).toBe(true);
    expect(
      isResumable(turnAfter(STARTED, plan('rejected', 'pending'), end))
    ).toBe(false);
  });
});
