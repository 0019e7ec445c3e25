import { knownOf } from '../explanations';
import { cellFixOf } from '../cellFix';
import { FixInfo, ModelsReply } from '../../api/types';

function fix(...calls: FixInfo['calls']): FixInfo {
  return { id: 'f', title: 'T', explanation: 'E', safe: true, calls };
}

const sourceOf = (cellId: string) =>
  ({ a: 'one\ntwo\ntwo', b: 'three' })[cellId] ?? null;

describe('repairOf', () => {
  it('turns edits into whole sources, and keeps the order of the runs', () => {
    const repair = cellFixOf(
      fix(
        {
          name: 'updateNotebookCell',
          arguments: {
            cellId: 'a',
            edits: [{ oldString: 'one', newString: '$& 1' }],
            run: true
          }
        },
        {
          name: 'updateNotebookCell',
          arguments: { cellId: 'b', content: '3' }
        },
        { name: 'runNotebookCells', arguments: { cellIds: ['b', 'a'] } }
      ),
      sourceOf
    );
    expect(
      repair?.proposals.map(({ target, source }) => [target, source])
    ).toEqual([
      [{ kind: 'cell', cellId: 'a' }, '$& 1\ntwo\ntwo'],
      [{ kind: 'cell', cellId: 'b' }, '3']
    ]);
    expect(repair?.runs).toEqual(['a', 'b']);
  });

  it('proposes a new cell before the one that failed', () => {
    const repair = cellFixOf(
      fix(
        {
          name: 'addNotebookCell',
          arguments: { content: '%pip install x', position: { before: 'a' } }
        },
        { name: 'runNotebookCells', arguments: { cellIds: ['a'] } }
      ),
      sourceOf
    );
    expect(repair?.proposals[0]).toMatchObject({
      target: { kind: 'before', cellId: 'a' },
      source: '%pip install x'
    });
    expect(repair?.runs).toEqual(['a']);
  });

  it('knows what it cannot show', () => {
    const edit = (cellId: string, oldString: string) =>
      fix({
        name: 'updateNotebookCell',
        arguments: { cellId, edits: [{ oldString, newString: '' }] }
      });
    expect(cellFixOf(edit('a', 'two'), sourceOf)).toBeNull();
    expect(cellFixOf(edit('gone', 'two'), sourceOf)).toBeNull();
    expect(
      cellFixOf(fix({ name: 'selectKernel', arguments: {} }), sourceOf)
    ).toBeNull();
  });
});

describe('knownOf', () => {
  const models = {
    ready: false,
    message: 'No model.',
    connections: [{ title: 'Way', steps: 'Set `KEY`.' }],
    models: []
  } as unknown as ModelsReply;

  it('says what the error means, what helps, and how to connect a model', () => {
    const text = knownOf(
      { name: 'NameError', message: "name 'a_b' is not defined" },
      [{ ...fix(), title: 'Replace a_b', explanation: 'There is *no* a_b.' }],
      models
    );
    expect(text).toContain('Nothing defines this name');
    expect(text).toContain('**Replace a\\_b**: There is \\*no\\* a\\_b.');
    expect(text).toContain('**Way**: Set `KEY`.');
  });

  it('lets a message close no fence', () => {
    const text = knownOf(
      { name: 'constructor', message: '```\n# x' },
      [],
      models
    );
    expect(text).toContain('````text\nconstructor: ```\n# x\n````');
  });
});
