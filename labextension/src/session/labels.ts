import { changeLabel, mergeChanges } from './changes';
import { planWaits } from './plan';
import { spoken } from './toolNames';
import { ITurn, IToolEntry, waitingIn, wasDenied } from './turn';

/** How a cell is named to a user, from its notebook and id; null where it is not there. */
export type CellNumber = (
  path: string | undefined,
  id: string
) => number | null;

/** The part of a tool call that labels are made of. */
export type ICall = Pick<IToolEntry, 'name' | 'label' | 'arguments'>;

/** How often a broken model stream is retried (DESIGN 4.6). */
const RETRIES = 5;

/** "0.4 s", "12 s", "2 min 5 s". */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) {
    return `${Math.max(0.1, seconds).toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  return whole < 60
    ? `${whole} s`
    : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** "950", "12.4k", "1.2M". */
export function countShort(count: number): string {
  if (count < 1000) {
    return String(count);
  }
  const [value, unit] =
    count < 999_500 ? [count / 1000, 'k'] : [count / 1e6, 'M'];
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** What a tool call does, or did, as a label; what it did, as the server has it. */
export function toolLabel(call: IToolEntry, cellNumber: CellNumber): string {
  switch (call.status) {
    case 'running':
      return runningLabel(call, cellNumber);
    case 'denied':
      return `${approvalLabel(call, cellNumber)}: declined`;
    case 'aborted':
      return `${approvalLabel(call, cellNumber)}: stopped`;
    case 'error':
      return call.summary ?? `${approvalLabel(call, cellNumber)}: failed`;
    case 'ok':
      return call.summary ?? madeLabel(call, cellNumber);
  }
}

function madeLabel(call: IToolEntry, cellNumber: CellNumber): string {
  return call.changes.length === 1
    ? changeLabel(call.changes[0])
    : approvalLabel(call, cellNumber);
}

/** "Running cell 5", while it runs. */
export function runningLabel(call: ICall, cellNumber: CellNumber): string {
  return withCells(call, call.label?.activity, cellNumber);
}

/** "Run cell 5", as a thing to be allowed. */
export function approvalLabel(call: ICall, cellNumber: CellNumber): string {
  return withCells(call, call.label?.action, cellNumber);
}

/** What the tool declares, with the numbers of the cells, or the file, that the arguments name. */
function withCells(
  { name, arguments: given }: ICall,
  label: string | undefined,
  cellNumber: CellNumber
): string {
  const args = asRecord(given);
  const path = typeof args.path === 'string' ? args.path : undefined;
  const ids = cellIds(args);
  const text = label ?? spoken(name);
  return ids.length
    ? text.replace(
        /\b(a cell|cells)$/,
        numberedCellLabel(ids, id => cellNumber(path, id))
      )
    : text.replace(/\ba file$/, found => path ?? found);
}

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

/** "cell 4", "cells 4, 5", "3 cells" where their numbers are not known. */
function numberedCellLabel(
  ids: string[],
  number: (id: string) => number | null
): string {
  const numbers = ids.map(number);
  if (ids.length > 4 || numbers.some(n => n === null)) {
    return ids.length === 1 ? 'a cell' : `${ids.length} cells`;
  }
  return `${ids.length === 1 ? 'cell' : 'cells'} ${numbers.join(', ')}`;
}

function cellIds(args: Record<string, unknown>): string[] {
  const many = args.cellIds ?? args.cell_ids;
  const one = args.cellId ?? args.cell_id;
  const ids = Array.isArray(many) ? many : [one];
  return ids.filter((id): id is string => typeof id === 'string');
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
