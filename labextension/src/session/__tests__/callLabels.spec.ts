import { approvalLabel, toolLabel } from '../callLabels';
import { IToolEntry } from '../turn';
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
