import { IToolEntry } from '../turn';
import {
  abortLabel,
  activityLabel,
  approvalLabel,
  countShort,
  doneAndNot,
  formatDuration,
  toolLabel
} from '../labels';
import { STARTED, call, turnAfter } from './events';

const numbers: Record<string, number> = { x: 5, y: 6 };
const cellNumber = (_path: string | undefined, id: string) =>
  numbers[id] ?? null;

const entryOf = (...args: Parameters<typeof call>) =>
  turnAfter(STARTED, ...call(...args)).entries[0] as IToolEntry;

describe('words for a tool call', () => {
  it('name the cells by their numbers while it runs', () => {
    const run = (cellIds: string[]) =>
      toolLabel(
        entryOf('c', 'runNotebookCells', 'running', { arguments: { cellIds } }),
        cellNumber
      );
    expect(run(['x'])).toBe('Running cell 5');
    expect(run(['x', 'y'])).toBe('Running cells 5, 6');
    expect(run(['x', 'gone'])).toBe('Running 2 cells');
  });

  it('are the summary of the server when it has ended', () => {
    expect(
      toolLabel(
        entryOf('c', 'runNotebookCells', 'ok', { summary: 'Ran cell 5' }),
        cellNumber
      )
    ).toBe('Ran cell 5');
  });

  it('never claim success for one that failed', () => {
    expect(toolLabel(entryOf('c', 'someTool', 'error'), cellNumber)).toBe(
      'Some tool: failed'
    );
    expect(toolLabel(entryOf('c', 'someTool', 'aborted'), cellNumber)).toBe(
      'Some tool: stopped'
    );
  });

  it('ask in the words of an order, as the tool declares them', () => {
    const asked = {
      name: 'delete_notebook_cells',
      arguments: { cell_ids: ['x'] }
    };
    const label = { action: 'Remove cells', activity: 'Removing cells' };
    expect(approvalLabel({ ...asked, label }, cellNumber)).toBe(
      'Remove cell 5'
    );
    // An older event, or a tool that declares none.
    expect(approvalLabel(asked, cellNumber)).toBe('Delete notebook cell 5');
  });
});

describe('words for what goes on', () => {
  it('say that it thinks, writes, reconnects', () => {
    const words = (...events: Parameters<typeof turnAfter>) =>
      activityLabel(turnAfter(STARTED, ...events), cellNumber);
    expect(words({ type: 'model_started', model: 'm', attempt: 1 })).toBe(
      'Thinking'
    );
    expect(words({ type: 'model_started', model: 'm', attempt: 3 })).toBe(
      'Reconnecting 2 of 5'
    );
    expect(words({ type: 'text_delta', itemId: 'a', delta: 'x' })).toBe(
      'Writing'
    );
    expect(words({ type: 'status', message: 'Waiting for the kernel' })).toBe(
      'Waiting for the kernel'
    );
    expect(
      words({ type: 'user_input_requested', requestId: 'q', question: '?' })
    ).toBe('Waiting for your answer');
  });
});

describe('words for a stopped turn', () => {
  it('say what was done and what was not', () => {
    const turn = turnAfter(
      STARTED,
      ...call('a', 'updateNotebookCell', 'running'),
      {
        type: 'document_changed',
        path: 'a.ipynb',
        changes: [{ path: 'a.ipynb', op: 'update', cellId: 'x', index: 4 }]
      },
      call('a', 'updateNotebookCell')[2],
      ...call('b', 'runNotebookCells', 'running', {
        arguments: { cellIds: ['x'] }
      }),
      { type: 'turn_aborted', reason: 'interrupted' }
    );
    expect(abortLabel(turn)).toBe('Stopped.');
    expect(doneAndNot(turn, cellNumber)).toEqual({
      done: ['changed cell 5'],
      not: ['running cell 5'],
      hadBegun: true
    });
  });
});

describe('numbers for people', () => {
  it('are short', () => {
    expect(countShort(950)).toBe('950');
    expect(countShort(1234)).toBe('1.2k');
    expect(countShort(123_456)).toBe('123k');
    expect(countShort(1_200_000)).toBe('1.2M');
    expect(formatDuration(1234)).toBe('1.2 s');
    expect(formatDuration(12_300)).toBe('12 s');
    expect(formatDuration(125_000)).toBe('2 min 5 s');
  });
});
