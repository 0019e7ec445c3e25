import { EventInput } from '../../panel/__tests__/fakes';
import { doneLabel } from '../changes';
import { ICallGroup, foldCalls } from '../foldCalls';
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
        ...refused('c', 'Not done: b.ipynb is not active')
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

describe('what a workflow did', () => {
  const added = (index: number): EventInput[] => [
    ...call(`a${index}`, 'addNotebookCell'),
    {
      type: 'document_changed',
      callId: `a${index}`,
      path: 'cars.ipynb',
      changes: [
        { path: 'cars.ipynb', op: 'insert', cellId: `c${index}`, index }
      ]
    } as EventInput
  ];
  const shown = (isWorkflow: boolean, ...events: EventInput[]) =>
    foldCalls(turnAfter(STARTED, ...events).entries, isWorkflow);
  const thirty = Array.from({ length: 30 }, (_, index) => added(index)).flat();

  it('folds into one line that counts it', () => {
    const [group, ...more] = shown(
      true,
      ...call('c', 'createNotebook'),
      ...thirty
    );
    expect(more).toEqual([]);
    expect(group).toMatchObject({ kind: 'work', id: 'work-c' });
    const { calls } = group as ICallGroup;
    expect(calls).toHaveLength(31);
    expect(doneLabel(calls.flatMap(({ changes }) => changes))).toBe(
      '30 cells added'
    );
  });

  it('stays apart where it failed, still runs, or is all there is', () => {
    const kinds = (...events: EventInput[]) =>
      shown(true, ...events).map(({ kind }) => kind);
    expect(
      kinds(
        ...added(0),
        ...added(1),
        ...call('f', 'addNotebookCell', 'error'),
        ...added(2),
        ...call('r', 'addNotebookCell', 'running')
      )
    ).toEqual(['work', 'tool', 'tool', 'tool']);
    expect(kinds(...added(0))).toEqual(['tool']);
  });

  it('is not folded where a model did it', () => {
    expect(shown(false, ...thirty)).toHaveLength(30);
  });
});
