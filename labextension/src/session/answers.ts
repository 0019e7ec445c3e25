import {
  Event,
  ToolCallArguments,
  ToolCallOutput,
  ToolCallStarted
} from '../api/types';
import { endedCall, startedCall } from './toolCalls';
import { IAnswer, IToolEntry, ITurn } from './turn';

type CallEvent = ToolCallStarted | ToolCallArguments | ToolCallOutput;

/** The text of a further answer as far as it is known: Markdown. */
export function textOf(answer: IAnswer): string {
  return answer.parts.map(({ text }) => text).join('');
}

/** Whether the event is about a tool call. */
export function isOfCall(event: Event): event is CallEvent {
  return (
    event.type === 'tool_call_started' ||
    event.type === 'tool_call_arguments' ||
    event.type === 'tool_call_output'
  );
}

/** A turn after an event about one of several answers to its message. */
export function reduceAnswers(turn: ITurn, event: Event): ITurn {
  if (isOfCall(event)) {
    return withAnswer(turn, event.answerId ?? '', {}, answer => ({
      ...answer,
      calls: callsAfter(answer.calls, event)
    }));
  }
  switch (event.type) {
    case 'answer_started':
      return withAnswer(
        turn,
        event.answerId,
        {
          model: event.model,
          startedAt: event.at,
          sources: event.sources
        },
        answer => answer
      );
    case 'answer_status':
      return withAnswer(turn, event.answerId, {}, answer => ({
        ...answer,
        activity: event.message
      }));
    case 'answer_delta':
      return withAnswer(turn, event.answerId, {}, answer => ({
        ...answer,
        activity: undefined,
        parts: grown(answer.parts, event.itemId, event.delta)
      }));
    case 'answer_finished':
      return withAnswer(
        turn,
        event.answerId,
        { model: event.model },
        answer => ({
          ...answer,
          parts: event.text
            ? [{ id: event.answerId, text: event.text }]
            : answer.parts,
          status: event.status,
          activity: undefined,
          message: event.message,
          usage: event.usage,
          durationMs: event.durationMs,
          provenance: event.provenance,
          sources: event.sources
        })
      );
    case 'answer_chosen':
      return { ...turn, chosen: event.answerId };
    case 'item_discarded':
      return withoutPart(turn, event.itemId);
    default:
      return turn;
  }
}

function withAnswer(
  turn: ITurn,
  id: string,
  begun: Partial<IAnswer>,
  change: (answer: IAnswer) => IAnswer
): ITurn {
  const known = turn.answers.some(answer => answer.id === id);
  const started: IAnswer = {
    id,
    model: '',
    parts: [],
    calls: [],
    status: 'running',
    ...begun
  };
  const answers = known ? turn.answers : inOrder(turn, started);
  return {
    ...turn,
    answers: answers.map(answer => (answer.id === id ? change(answer) : answer))
  };
}

/** The answers of a comparison are in the order of its models, whichever began first. */
function inOrder(turn: ITurn, started: IAnswer): readonly IAnswer[] {
  const order = turn.compare ?? [];
  const place = ({ model, sources }: IAnswer) => {
    const index = sources ? -1 : order.indexOf(model);
    return index < 0 ? order.length : index;
  };
  return [...turn.answers, started].sort((a, b) => place(a) - place(b));
}

function callsAfter(
  calls: readonly IToolEntry[],
  event: CallEvent
): readonly IToolEntry[] {
  if (event.type === 'tool_call_arguments') {
    return calls.map(call =>
      call.id === event.callId ? { ...call, arguments: event.arguments } : call
    );
  }
  const all = calls.some(({ id }) => id === event.callId)
    ? calls
    : [...calls, startedCall(event)];
  return event.type === 'tool_call_output'
    ? all.map(call =>
        call.id === event.callId ? endedCall(call, event) : call
      )
    : all;
}

function grown(
  parts: IAnswer['parts'],
  id: string,
  delta: string
): IAnswer['parts'] {
  return parts.some(part => part.id === id)
    ? parts.map(part =>
        part.id === id ? { id, text: part.text + delta } : part
      )
    : [...parts, { id, text: delta }];
}

/** A stream that broke is asked for once more: what it had shown is reverted. */
function withoutPart(turn: ITurn, id: string): ITurn {
  const has = ({ parts, calls }: IAnswer) =>
    [...parts, ...calls].some(each => each.id === id);
  if (!turn.answers.some(has)) {
    return turn;
  }
  return {
    ...turn,
    answers: turn.answers.map(answer => ({
      ...answer,
      parts: answer.parts.filter(part => part.id !== id),
      calls: answer.calls.filter(
        call => call.id !== id || call.status !== 'running'
      )
    }))
  };
}
