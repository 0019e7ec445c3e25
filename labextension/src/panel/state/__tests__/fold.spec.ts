import { foldCalls } from '../fold';
import { STARTED, call, turnAfter } from './events';

describe('reads in a row', () => {
  const reads = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) =>
      call(`r${from + i}`, 'getNotebookCells')
    ).flat();
  const kinds = (...events: Parameters<typeof turnAfter>) =>
    foldCalls(turnAfter(STARTED, ...events).entries).map(entry => entry.kind);

  it('stand by themselves up to three', () => {
    expect(kinds(...reads(3))).toEqual(['tool', 'tool', 'tool']);
  });

  it('fold into one line from four on', () => {
    const shown = foldCalls(turnAfter(STARTED, ...reads(5)).entries);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatchObject({ kind: 'reads', id: 'reads-r0' });
  });

  it('do not fold over something else', () => {
    expect(
      kinds(...reads(2), ...call('w', 'updateNotebookCell'), ...reads(2, 5))
    ).toHaveLength(5);
  });

  it('that the gate refused alike fold from two on', () => {
    const refused = (id: string, summary: string) =>
      call(id, 'getNotebookCells', 'error', { summary, needs: 'notebook' });
    const none = 'Not done: no notebook is attached';
    expect(kinds(...refused('a', none))).toEqual(['tool']);
    expect(
      kinds(
        ...reads(1),
        ...refused('a', none),
        ...refused('b', none),
        ...refused('c', 'Not done: b.ipynb is not in front')
      )
    ).toEqual(['tool', 'refused', 'tool']);
  });

  it('do not hide one that failed or still runs', () => {
    expect(kinds(...reads(4), ...call('f', 'getCellOutputs', 'error'))).toEqual(
      ['reads', 'tool']
    );
    expect(
      kinds(...reads(4), ...call('f', 'getCellOutputs', 'running'))
    ).toEqual(['reads', 'tool']);
  });
});
