import {
  PlanState,
  PlanStep,
  PlanUpdated,
  RecoveryFinished,
  RecoveryStarted,
  StepFinished,
  StepStarted
} from '../api/types';

/** What is noted of a step beside its state. */
export type StepNote =
  | { kind: 'fixing'; attempt: number; maxAttempts?: number }
  | { kind: 'fixed'; message: string }
  | { kind: 'failed'; message: string; isFix: boolean }
  | { kind: 'denied' };

/** The plan as it is; without a `state` it is the model's own list. */
export interface IPlan {
  steps: readonly PlanStep[];
  explanation?: string;
  state?: PlanState;
  requiredTools?: readonly string[];
  /** What they do, by their names. */
  requiredToolLabels?: Readonly<Record<string, string>>;
  estimatedDuration?: string;
  /** The id of the template whose steps these are. */
  workflow?: string;
  /** By the index of the step. */
  notes: Readonly<Record<number, StepNote>>;
}

type PlanEvent =
  | PlanUpdated
  | StepStarted
  | StepFinished
  | RecoveryStarted
  | RecoveryFinished;

/** The plan after one more event about it. */
export function reducePlan(
  plan: IPlan | undefined,
  event: PlanEvent
): IPlan | undefined {
  if (event.type === 'plan_updated') {
    return updated(plan, event);
  }
  return plan && { ...plan, notes: noted(plan.notes, event) };
}

function updated(
  plan: IPlan | undefined,
  event: PlanUpdated
): IPlan | undefined {
  // What the model notes down within a step is not the plan that is carried out.
  if (plan?.state && !event.state) {
    return plan;
  }
  const { steps, explanation, state, requiredTools } = event;
  const notes = Object.entries(plan?.notes ?? {}).filter(
    ([index]) => steps[+index]?.description === plan?.steps[+index]?.description
  );
  return {
    steps,
    explanation,
    state,
    requiredTools,
    requiredToolLabels: event.requiredToolLabels,
    estimatedDuration: event.estimatedDuration,
    workflow: event.workflow,
    notes: Object.fromEntries(notes)
  };
}

function noted(
  notes: IPlan['notes'],
  event: Exclude<PlanEvent, PlanUpdated>
): IPlan['notes'] {
  const { [event.index]: note, ...others } = notes;
  const next = noteAfter(note, event);
  return next ? { ...others, [event.index]: next } : others;
}

function noteAfter(
  note: StepNote | undefined,
  event: Exclude<PlanEvent, PlanUpdated>
): StepNote | undefined {
  const { type } = event;
  switch (type) {
    case 'step_started':
      return undefined;
    case 'recovery_started': {
      const { attempt, maxAttempts } = event;
      return { kind: 'fixing', attempt, maxAttempts };
    }
    case 'recovery_finished': {
      const { message } = event;
      return event.success
        ? { kind: 'fixed', message }
        : { kind: 'failed', message, isFix: true };
    }
    case 'step_finished':
      return event.success
        ? note
        : { kind: 'failed', message: event.message, isFix: false };
  }
}

/** The plan as it is when the user did not approve an act: its step is not done. */
export function asDenied(plan: IPlan): IPlan {
  const notes = { ...plan.notes };
  const steps = plan.steps.map((step, index): PlanStep => {
    if (step.status !== 'failed') {
      return step;
    }
    notes[index] = { kind: 'denied' };
    return { ...step, status: 'pending' };
  });
  return { ...plan, steps, notes };
}

/**
 * The steps that need one that failed, also through others, each with that one (indices from 0).
 * Only where the plan says what needs what: another one stops at what failed.
 */
export function blockedSteps(
  steps: readonly PlanStep[]
): ReadonlyMap<number, number> {
  const blocked = new Map<number, number>();
  if (!steps.some(step => step.dependencies?.length)) {
    return blocked;
  }
  steps.forEach(({ status, dependencies }, index) => {
    const needed = dependencies ?? steps.slice(0, index).map((_, at) => at);
    const cause = needed.find(
      at =>
        steps[at]?.status === 'failed' ||
        (steps[at]?.status === 'skipped' && !!dependencies) ||
        blocked.has(at)
    );
    if (cause !== undefined && status === 'pending') {
      blocked.set(index, blocked.get(cause) ?? cause);
    }
  });
  return blocked;
}

/** Whether the plan waits for the user. */
export function planWaits(turn: { status: string; plan?: IPlan }): boolean {
  const state = turn.plan?.state;
  return (
    turn.status === 'running' &&
    (state === 'proposed' || state === 'paused' || state === 'waiting')
  );
}

/** The proposals of the steps that the user skipped, as one text. */
export function skippedProposals(plan: IPlan | undefined): string {
  return (plan?.steps ?? [])
    .map(step => (step.status === 'skipped' ? step.proposalId : ''))
    .join(' ');
}

/** The proposal whose action a plan waits for. */
export function waitingProposal(turn: {
  status: string;
  plan?: IPlan;
}): string | undefined {
  return turn.status === 'running' && turn.plan?.state === 'waiting'
    ? turn.plan.steps.find(({ status }) => status === 'in_progress')?.proposalId
    : undefined;
}

/** Whether a plan whose turn has ended can be taken up again; its server may have died, too. */
export function isResumable(turn: { status: string; plan?: IPlan }): boolean {
  const state = turn.plan?.state;
  return (
    turn.status !== 'running' &&
    (state === 'stopped' ||
      state === 'running' ||
      state === 'paused' ||
      state === 'waiting')
  );
}
