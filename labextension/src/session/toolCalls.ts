import { ToolCallOutput, ToolCallStarted } from '../api/types';
import { IToolEntry } from './turn';

/** A call that has begun; of one that is first heard of by its end, what is known then. */
export function startedCall(
  event: ToolCallStarted | ToolCallOutput
): IToolEntry {
  const declared = event.type === 'tool_call_started' ? event : undefined;
  return {
    kind: 'tool',
    id: event.callId,
    name: event.name,
    label: declared?.label,
    reads: declared?.reads,
    runs: declared?.runs,
    status: 'running',
    startedAt: event.at,
    changes: []
  };
}

/** The call with its result. */
export function endedCall(call: IToolEntry, event: ToolCallOutput): IToolEntry {
  return {
    ...call,
    status: event.status,
    output: event.output,
    truncated: event.truncated,
    durationMs: event.durationMs,
    summary: event.summary,
    withheld: event.withheld,
    needs: event.needs,
    mimeBundle: event.mimeBundle
  };
}
