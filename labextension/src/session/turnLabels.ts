import { CellNumber, runningLabel, toolLabel } from './callLabels';
import { changeLabel, mergeChanges } from './changes';
import { NOT_DONE, incompleteNotice } from './finalReply';
import { planWaits } from './plan';
import { ITurn, IToolEntry, waitingIn, wasDenied } from './turn';

/** How often a broken model stream is retried (DESIGN 4.6). */
const RETRIES = 5;

/** What goes on in a running turn. */
export function activityLabel(turn: ITurn, cellNumber: CellNumber): string {
  const waiting = waitingIn(turn);
  if (waiting.length) {
    return waiting[0].kind === 'approval'
      ? 'Waiting for your approval'
      : 'Waiting for your answer';
  }
  if (planWaits(turn)) {
    switch (turn.plan?.state) {
      case 'paused':
        return 'Paused: waiting for you';
      case 'waiting':
        return 'Waiting for you to run the action';
      default:
        return 'Waiting for you to approve the plan';
    }
  }
  const running = turn.entries.filter(
    (entry): entry is IToolEntry =>
      entry.kind === 'tool' && entry.status === 'running'
  );
  const { activity } = turn;
  if (activity.kind === 'message') {
    return activity.message;
  }
  if (running.length) {
    return runningLabel(running[0], cellNumber);
  }
  switch (activity.kind) {
    case 'model':
      return activity.attempt > 1
        ? `Reconnecting ${activity.attempt - 1} of ${RETRIES}`
        : 'Thinking';
    case 'writing':
      return 'Writing';
    case 'starting':
      return 'Starting';
    default:
      return 'Thinking';
  }
}

/** Why a turn ended early, in a sentence. */
export function abortLabel(turn: ITurn): string {
  switch (turn.abortReason) {
    case 'interrupted':
      return 'Stopped.';
    case 'replaced':
      return 'Stopped for your next message.';
    case 'token_limit':
      return 'Stopped: token limit reached.';
    case 'tool_limit':
      return 'Stopped: tool call limit reached.';
    case 'shutdown':
      return 'Stopped: the server shut down.';
    default:
      return wasDenied(turn) ? 'You declined this.' : 'Stopped by an error.';
  }
}

/**
 * How a turn ended, in a sentence: "Done." only where nothing of it says otherwise, since users who
 * hear the page have no other sign of it.
 */
export function endLabel(turn: ITurn): string {
  if (turn.status === 'aborted') {
    return abortLabel(turn);
  }
  const { entries, plan } = turn;
  for (const entry of entries) {
    if (entry.kind === 'notice' && entry.code === NOT_DONE) {
      return entry.message;
    }
  }
  const incomplete = incompleteNotice(turn);
  if (incomplete) {
    return incomplete.message;
  }
  if (plan?.state === 'rejected') {
    return 'Plan not approved.';
  }
  const steps = plan?.steps ?? [];
  const done = steps.filter(step => step.status === 'completed').length;
  if (done < steps.length) {
    return `${done} of ${steps.length} steps done.`;
  }
  const last = entries[entries.length - 1];
  if (last?.kind === 'proposal') {
    return `Proposed: ${last.proposal.title}.`;
  }
  if (last?.kind === 'action' && last.status !== 'ok') {
    return `${last.status === 'error' ? 'Failed' : 'Cancelled'}: ${last.title}.`;
  }
  const { facts } = turn;
  const hasActed = facts && facts.changed + facts.runs + facts.otherCalls > 0;
  return facts && !hasActed ? facts.message : 'Done.';
}

/** What a turn that ended early had done, what it had not, and whether code was running. */
export function doneAndNot(
  turn: ITurn,
  cellNumber: CellNumber
): { done: string[]; not: string[]; hadBegun: boolean } {
  const done = mergeChanges(turn.changes).map(change => changeLabel(change));
  const not: string[] = [];
  let hadBegun = false;
  for (const entry of turn.entries) {
    if (entry.kind === 'action' && entry.status === 'cancelled') {
      not.push(entry.title);
      // One that says how things are now says so itself.
      hadBegun ||= !entry.output;
    }
    if (entry.kind !== 'tool') {
      continue;
    }
    if (entry.status === 'aborted') {
      not.push(unfinished(entry, cellNumber));
      hadBegun ||= entry.runs === true;
    } else if (entry.status === 'ok' && entry.runs) {
      done.push(toolLabel(entry, cellNumber));
    }
  }
  return { done: done.map(lowerFirst), not: not.map(lowerFirst), hadBegun };
}

/** What was not done of a call; of one that changed cells and was to run them, the run. */
function unfinished(call: IToolEntry, cellNumber: CellNumber): string {
  const { cellId, index } = call.changes[0] ?? {};
  if (!cellId) {
    return runningLabel(call, cellNumber);
  }
  const number =
    index === undefined ? cellNumber(undefined, cellId) : index + 1;
  return number === null ? 'Running the cell' : `Running cell ${number}`;
}

/** As it is written within a sentence. */
export function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
