import { Event, ToolCallStarted } from '../../api/types';
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

/** What tools declare, as the server has it. */
const DECLARED: Readonly<
  Record<
    string,
    Partial<Pick<ToolCallStarted, 'label' | 'reads' | 'runs'>> | undefined
  >
> = {
  getNotebookCells: {
    label: { action: 'Read cells', activity: 'Reading cells' },
    reads: true
  },
  getCellOutputs: {
    label: {
      action: 'Read outputs of cells',
      activity: 'Reading outputs of cells'
    },
    reads: true
  },
  addNotebookCell: {
    label: { action: 'Add a cell', activity: 'Adding a cell' }
  },
  updateNotebookCell: {
    label: { action: 'Change a cell', activity: 'Changing a cell' }
  },
  deleteNotebookCells: {
    label: { action: 'Remove cells', activity: 'Removing cells' }
  },
  runNotebookCells: {
    label: { action: 'Run cells', activity: 'Running cells' },
    runs: true
  },
  executeCode: {
    label: { action: 'Run code in the kernel', activity: 'Running code' },
    runs: true
  },
  askUser: {
    label: { action: 'Ask you something', activity: 'Waiting for your answer' }
  }
};

/** That a call began. */
function began(callId: string, name: string): EventInput {
  return { type: 'tool_call_started', callId, name, ...DECLARED[name] };
}

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
    began(callId, name),
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

/** What a turn cost. */
export const USAGE = {
  inputTokens: 100,
  outputTokens: 20,
  cachedTokens: 0,
  totalTokens: 120,
  sessionTokens: 120,
  estimated: false
};
