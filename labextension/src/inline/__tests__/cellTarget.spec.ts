import type { ICodeCellModel } from '@jupyterlab/cells';

import { CellTarget } from '../cellTarget';
import { IProposalView } from '../target';
import { IProposal } from '../../proposals';
import { code, IOpenNotebook, open } from '../../notebook/__tests__/support';

describe('proposed cells', () => {
  let notebook: IOpenNotebook;
  let target: CellTarget;

  beforeEach(async () => {
    notebook = await open([code('a', 'a'), code('b', 'b')]);
    const { panel } = notebook;
    target = new CellTarget(panel, panel.content.widgets[0], 'x.ipynb');
  });

  afterEach(() => {
    target.dispose();
    notebook.close();
  });

  async function slot(
    kind: 'after' | 'before',
    cellId: string,
    source: string
  ): Promise<IProposalView> {
    const place = { kind, cellId } as const;
    const made = (await target.viewFor(place))!;
    made.show({
      target: place,
      language: 'python',
      source,
      isComplete: true
    } as unknown as IProposal);
    return made;
  }

  /** What a button that accepts these does. */
  function accept(...slots: IProposalView[]): void {
    target.asOneStep(slots, () => slots.forEach(each => each.accept([0])));
  }

  const sources = () => notebook.ids().map(id => notebook.source(id));

  it('stand where they were proposed, in the order in which they were, accepted at once', async () => {
    accept(
      await slot('after', 'b', 'b1'),
      await slot('after', 'a', 'a1'),
      await slot('after', 'a', 'a2'),
      await slot('before', 'a', 'a0'),
      await slot('after', 'b', 'b2')
    );
    expect(sources()).toEqual(['a0', 'a', 'a1', 'a2', 'b', 'b1', 'b2']);
    notebook.panel.model!.sharedModel.undo();
    expect(sources()).toEqual(['a', 'b']);
  });

  it('stand so too where one was accepted before the others', async () => {
    accept(await slot('after', 'a', 'a1'));
    accept(
      await slot('after', 'a', 'a2'),
      await slot('before', 'b', 'b0'),
      await slot('after', 'a', 'a3')
    );
    expect(sources()).toEqual(['a', 'a1', 'a2', 'a3', 'b0', 'b']);
  });
});

it.each([
  ['a = 1\r\nb = 2', 'running', 'a = 1\r\nb = 2'],
  ['a = 1\r\nb = 2', 'idle', 'a = 1\nb = 3'],
  ['a = 1\nb = 2', 'running', 'a = 1\nb = 3']
] as const)(
  'a change of %j in a cell that is %s makes it %j: made anew, it would lose its outputs',
  async (source, state, left) => {
    const notebook = await open([code('a', source)]);
    const { panel } = notebook;
    const [cell] = panel.content.widgets;
    const target = new CellTarget(panel, cell, 'x.ipynb');
    try {
      (cell.model as ICodeCellModel).executionState = state;
      const place = { kind: 'cell', cellId: 'a' } as const;
      const view = (await target.viewFor(place))!;
      const refusals: string[] = [];
      view.refused.connect((_, reason) => refusals.push(reason));
      view.show({
        target: place,
        language: 'python',
        source: 'a = 1\nb = 3',
        isComplete: true
      } as unknown as IProposal);
      target.asOneStep([view], () => view.accept([0]));
      expect(notebook.source('a')).toBe(left);
      expect(refusals).toEqual(
        left === source
          ? ['Cell 1 is running. Accept the change when the run has ended.']
          : []
      );
    } finally {
      target.dispose();
      notebook.close();
    }
  }
);
