import { PlanStep } from '../../api/types';
import { StepNote } from '../../session/plan';

/** What is known of a step's fix, or why it is not done. */
export function noteLabel(note: StepNote): string {
  switch (note.kind) {
    case 'fixing':
      return `Fixing, attempt ${note.attempt} of ${note.maxAttempts ?? 2}`;
    case 'fixed':
      // Sessions of earlier versions have "Repaired".
      return /^(Fixed|Repaired)?$/.test(note.message)
        ? 'Fixed'
        : `Fixed: ${note.message}`;
    case 'failed':
      return note.message || (note.isFix ? 'The fix failed' : '');
    case 'denied':
      return 'You declined this.';
  }
}

/** Why a step is not begun: the one with the index `cause`, which it needs, is not done. */
export function blockedLabel(
  cause: number,
  steps: readonly PlanStep[]
): string {
  const what = steps[cause].status === 'skipped' ? 'was skipped' : 'failed';
  return `Not started: it needs step ${cause + 1}, which ${what}`;
}

/** "needs steps 1 and 3"; nothing where it is just the step before. */
export function needsLabel(
  { dependencies }: PlanStep,
  index: number
): string | undefined {
  const needed = dependencies ?? [];
  if (!needed.length || (needed.length === 1 && needed[0] === index - 1)) {
    return undefined;
  }
  const numbers = needed.map(each => `${each + 1}`);
  const last = numbers.pop()!;
  return numbers.length
    ? `needs steps ${numbers.join(', ')} and ${last}`
    : `needs step ${last}`;
}
