import {
  ApprovalRequested,
  Change,
  DocumentChanged,
  Event,
  ToolCallOutput,
  ToolCallStarted,
  TurnStarted
} from '../api/types';
import { isOfCall, reduceAnswers } from './answers';
import { reduceDecided } from './reduceDecided';
import { offersAfter } from './offers';
import { replied } from './finalReply';
import { reducePlan } from './plan';
import { reduceServices } from './services';
import { Activity, ITurn, IToolEntry } from './turn';
import { endedCall, startedCall } from './toolCalls';
import { append, find, replace, settled } from './turnEntries';

/**
 * A turn after one more of its events. An event that says nothing about the turn returns the
 * turn itself, and only the entry that the event is about is made anew.
 */
export function reduceTurn(turn: ITurn, event: Event): ITurn {
  if ('answerId' in event && event.answerId && isOfCall(event)) {
    return reduceAnswers(turn, event);
  }
  switch (event.type) {
    case 'turn_started':
      return started(turn, event);
    case 'status':
      return act(turn, { kind: 'message', message: event.message });
    case 'model_started':
      return act(turn, { kind: 'model', attempt: event.attempt });
    case 'text_delta':
      return grow(turn, 'text', event.itemId, event.delta);
    case 'reasoning_delta':
      return grow(turn, 'reasoning', event.itemId, event.delta);
    case 'item_discarded':
      return reduceAnswers(discard(turn, event.itemId), event);
    case 'answer_started':
    case 'answer_status':
    case 'answer_delta':
    case 'answer_finished':
    case 'answer_chosen':
      return reduceAnswers(turn, event);
    case 'intent_detected':
    case 'help_shown':
    case 'actions_offered':
    case 'command_unknown':
    case 'action_proposed':
    case 'action_started':
    case 'action_progress':
    case 'action_finished':
      return reduceServices(turn, event);
    case 'tool_call_started':
      return callStarted(turn, event);
    case 'tool_call_arguments':
      return replace(turn, event.callId, entry =>
        entry.kind === 'tool'
          ? { ...entry, arguments: event.arguments }
          : undefined
      );
    case 'tool_call_output':
      return callEnded(turn, event);
    case 'approval_requested':
      return asked(turn, event);
    case 'approval_resolved':
      return replace(turn, event.approvalId, entry =>
        entry.kind === 'approval'
          ? { ...entry, decision: event.decision }
          : undefined
      );
    case 'user_input_requested':
      return append(turn, {
        kind: 'question',
        id: event.requestId,
        question: event.question,
        options: event.options ?? [],
        open: true,
        ...(event.form && { form: event.form })
      });
    case 'user_input_resolved':
      return replace(turn, event.requestId, entry =>
        entry.kind === 'question'
          ? { ...entry, open: false, action: event.action }
          : undefined
      );
    case 'document_changed':
      return changed(turn, event);
    case 'changes_undone':
    case 'changes_kept':
      return reduceDecided(turn, event);
    case 'plan_updated':
    case 'step_finished':
    case 'recovery_finished':
      return { ...turn, plan: reducePlan(turn.plan, event) };
    case 'step_started':
      return act(
        { ...turn, plan: reducePlan(turn.plan, event) },
        { kind: 'message', message: event.description }
      );
    case 'recovery_started':
      return act(
        { ...turn, plan: reducePlan(turn.plan, event) },
        { kind: 'message', message: `Fixing step ${event.index + 1}` }
      );
    case 'fixes_offered':
      return { ...turn, offers: offersAfter(turn.offers, event) };
    case 'workflows_offered':
      return { ...turn, workflows: event.offers };
    case 'context_compacted':
      return append(turn, {
        kind: 'compacted',
        id: `compacted-${event.seq}`,
        how: event.how,
        summary: event.summary,
        turns: { before: event.before, after: event.after },
        tokens: { before: event.tokensBefore, after: event.tokensAfter }
      });
    case 'token_usage':
      return { ...turn, usage: event.usage };
    case 'warning':
      return append(turn, {
        kind: 'notice',
        id: `warning-${event.seq}`,
        level: 'warning',
        code: event.code,
        message: event.message,
        retryable: false
      });
    case 'error':
      return append(brokenOff(turn, event.itemId), {
        kind: 'notice',
        id: `error-${event.seq}`,
        level: 'error',
        code: event.code,
        message: event.message,
        retryable: event.retryable
      });
    case 'final_reply':
      return replied(turn, event);
    case 'turn_completed':
      return {
        ...settled(turn),
        status: 'completed',
        durationMs: event.durationMs,
        firstTokenMs: event.timeToFirstTokenMs,
        usage: event.usage
      };
    case 'turn_aborted':
      return {
        ...settled(turn),
        status: 'aborted',
        abortReason: event.reason,
        durationMs:
          event.durationMs ??
          (turn.startedAt ? event.at - turn.startedAt : undefined)
      };
    default:
      return turn;
  }
}

function started(turn: ITurn, event: TurnStarted): ITurn {
  return {
    ...turn,
    message: event.message,
    mode: event.mode,
    notebookMode: event.notebookMode,
    model: event.model,
    target: event.target,
    workflow: event.workflow,
    compare: event.compare,
    startedAt: event.at
  };
}

/** The activity, without a new turn where it stays the same (one delta after the other). */
function act(turn: ITurn, activity: Activity): ITurn {
  const same =
    turn.activity.kind === activity.kind &&
    activity.kind !== 'model' &&
    activity.kind !== 'message';
  return same ? turn : { ...turn, activity };
}

function grow(
  turn: ITurn,
  kind: 'text' | 'reasoning',
  id: string,
  delta: string
): ITurn {
  const busy = act(turn, {
    kind: kind === 'text' ? 'writing' : 'reasoning'
  });
  if (find(turn, id) < 0) {
    return append(busy, { kind, id, text: delta });
  }
  return replace(busy, id, entry =>
    entry.kind === kind ? { ...entry, text: entry.text + delta } : undefined
  );
}

/** A failure cut a text off: what was shown of it stays. */
function brokenOff(turn: ITurn, itemId?: string): ITurn {
  return itemId === undefined
    ? turn
    : replace(turn, itemId, entry =>
        entry.kind === 'text' ? { ...entry, isBroken: true } : undefined
      );
}

function discard(turn: ITurn, id: string): ITurn {
  const entries = turn.entries.filter(
    entry =>
      !(
        entry.id === id &&
        (entry.kind === 'text' ||
          entry.kind === 'reasoning' ||
          (entry.kind === 'tool' && entry.status === 'running'))
      )
  );
  return entries.length === turn.entries.length ? turn : { ...turn, entries };
}

function callStarted(
  turn: ITurn,
  event: ToolCallStarted | ToolCallOutput
): ITurn {
  const busy = act(turn, { kind: 'tools' });
  if (find(turn, event.callId) >= 0) {
    return busy;
  }
  return append(busy, startedCall(event));
}

function callEnded(turn: ITurn, event: ToolCallOutput): ITurn {
  const known = callStarted(turn, event);
  const ended = replace(known, event.callId, entry =>
    entry.kind === 'tool' ? endedCall(entry, event) : undefined
  );
  if (normal(event.name) !== 'askuser') {
    return ended;
  }
  return {
    ...ended,
    entries: ended.entries.map(entry =>
      entry.kind === 'question' && entry.open && !entry.form
        ? { ...entry, open: false, answer: answerIn(event.output) }
        : entry
    )
  };
}

/** The user's answer in the output of `askUser`: an object, or JSON of one. */
function answerIn(output: unknown): string | undefined {
  try {
    const value: unknown =
      typeof output === 'string' ? JSON.parse(output) : output;
    const { answer } = (value ?? {}) as { answer?: unknown };
    return typeof answer === 'string' ? answer : undefined;
  } catch {
    return undefined;
  }
}

function asked(turn: ITurn, event: ApprovalRequested): ITurn {
  const call = turn.entries[find(turn, event.callId)];
  return append(turn, {
    kind: 'approval',
    id: event.approvalId,
    callId: event.callId,
    name: event.name,
    label: event.label ?? (call?.kind === 'tool' ? call.label : undefined),
    arguments: event.arguments,
    reason: event.reason,
    destructive: event.destructive,
    again: event.again,
    changes: event.changes ?? [],
    kinds: event.kinds ?? [],
    share: event.share,
    ...(event.label && { isForeign: true }),
    ...(event.code?.length && { code: event.code }),
    ...(event.act && { act: event.act })
  });
}

/** Changes belong to the turn and to the call that made them. */
function changed(turn: ITurn, event: DocumentChanged): ITurn {
  const changes: Change[] = [...turn.changes, ...event.changes];
  return replace(
    { ...turn, changes },
    event.callId ?? presumedAuthor(turn),
    entry =>
      entry.kind === 'tool'
        ? { ...entry, changes: [...entry.changes, ...event.changes] }
        : undefined
  );
}

/** An older event does not name the call: the one that runs, or ended last. */
function presumedAuthor({ entries }: ITurn): string {
  const calls = entries.filter(
    (entry): entry is IToolEntry => entry.kind === 'tool'
  );
  const running = calls.find(({ status }) => status === 'running');
  return (running ?? calls[calls.length - 1])?.id ?? '';
}

function normal(name: string): string {
  return name.toLowerCase().replace(/_/g, '');
}
