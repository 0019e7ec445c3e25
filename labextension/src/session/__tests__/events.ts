import { Event } from '../../api/types';
import { EventInput } from '../../panel/__tests__/fakes';
import { reduceTurn } from '../reduceTurn';
import { ITurn, emptyTurn } from '../turn';

/** A turn after these events, numbered from 1 and a second apart. */
export function turnAfter(...events: EventInput[]): ITurn {
  return numbered(events).reduce(reduceTurn, emptyTurn('turn_1'));
}

/** Events with numbers and times, as the server gives them. */
export function numbered(events: EventInput[], from = 1): Event[] {
  return events.map(
    (event, index) =>
      ({
        turnId: 'turn_1',
        at: 1000 * (from + index),
        ...event,
        seq: from + index
      }) as Event
  );
}

/** The begin of a turn. */
export const STARTED: Extract<EventInput, { type: 'turn_started' }> = {
  type: 'turn_started',
  mode: 'agent',
  notebookMode: 'full',
  tools: [],
  message: 'Find the mean',
  target: 'cars.ipynb'
};

/** A call with its arguments and, unless it still runs, its result. */
export function call(
  callId: string,
  name: string,
  status: 'ok' | 'error' | 'denied' | 'aborted' | 'running' = 'ok',
  fields: {
    arguments?: unknown;
    summary?: string;
    output?: unknown;
    needs?: 'mode' | 'notebook';
  } = {}
): EventInput[] {
  const begun: EventInput[] = [
    { type: 'tool_call_started', callId, name },
    {
      type: 'tool_call_arguments',
      callId,
      arguments: fields.arguments ?? {}
    }
  ];
  if (status === 'running') {
    return begun;
  }
  return [
    ...begun,
    {
      type: 'tool_call_output',
      callId,
      name,
      status,
      output: fields.output ?? {},
      truncated: false,
      durationMs: 12,
      summary: fields.summary,
      needs: fields.needs
    }
  ];
}
