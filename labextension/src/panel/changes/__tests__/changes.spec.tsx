import React from 'react';

import { Change, UndoConflict } from '../../../api/types';
import { EventInput } from '../../__tests__/fakes';
import { STARTED } from '../../../session/__tests__/events';
import { ChangesBar } from '../ChangesBar';
import { Conversation } from '../../conversation/Conversation';
import { StaleLine } from '../../conversation/StaleLine';
import {
  button,
  clear,
  click,
  doing,
  draw,
  makePanel
} from '../../__tests__/render';

global.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
Element.prototype.scrollIntoView = () => undefined;

afterEach(clear);

const change = (cellId: string): Change => ({
  path: 'cars.ipynb',
  op: 'update',
  cellId,
  before: 'old',
  after: 'new'
});
const CHANGED: EventInput = {
  type: 'document_changed',
  path: 'cars.ipynb',
  changes: [change('c4'), change('c5')]
};
const END: EventInput = {
  type: 'turn_completed',
  durationMs: 1,
  usage: {
    inputTokens: 1,
    outputTokens: 1,
    cachedTokens: 0,
    totalTokens: 2,
    sessionTokens: 2,
    estimated: false
  }
};
const CONFLICT: UndoConflict = {
  path: 'cars.ipynb',
  cellId: 'c5',
  before: 'old',
  after: 'new',
  now: 'mine'
};
const byId = (node: HTMLElement, id: string) =>
  node.querySelector<HTMLElement>(`[data-testid="${id}"]`);

describe('the changes bar', () => {
  it('keeps or takes back the turn, and is gone when that is done', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <ChangesBar />);
    await emit(STARTED, CHANGED);
    // Nothing is reverted under a running turn.
    expect(byId(node, 'da-undo')).toBeNull();
    await emit(END);
    await click(byId(node, 'da-undo'));
    await click(byId(node, 'da-keep'));
    expect(ops()).toEqual([
      {
        type: 'undo',
        turnId: 'turn_1',
        cellIds: undefined,
        overwrite: false
      }
    ]);
    await emit({
      type: 'changes_undone',
      ofTurnId: 'turn_1',
      changes: [change('c4'), change('c5')],
      conflicts: [],
      note: 'Variables in the kernel stay.'
    });
    expect(byId(node, 'da-changes')).toBeNull();
    // The turn says it, and nothing else does.
    expect(model.notice.current).toBeNull();
  });

  it('decides on a single cell', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <ChangesBar />);
    await emit(STARTED, CHANGED, END);
    await click(button(node, 'View'));
    await click(node.querySelector('[aria-label="Keep cell 4"]'));
    expect(ops()).toEqual([
      { type: 'keep', turnId: 'turn_1', cellIds: ['c4'] }
    ]);
    await emit({
      type: 'changes_kept',
      ofTurnId: 'turn_1',
      cellIds: ['c4']
    });
    expect(node.textContent).toContain('1 cell changed');
  });

  it('shows the diffs of many changes one by one, those of few at once', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <ChangesBar />);
    const many = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map(change);
    await emit(STARTED, { ...CHANGED, changes: many.slice(1) } as EventInput);
    await click(button(node, 'View'));
    expect(node.querySelectorAll('.da-diff')).toHaveLength(5);
    await click(button(node, 'Hide'));
    await emit({ ...CHANGED, changes: many.slice(0, 1) } as EventInput);
    await click(button(node, 'View'));
    expect(node.querySelectorAll('.da-diff')).toHaveLength(0);
    await click(button(node, 'Show diff'));
    expect(node.querySelectorAll('.da-diff')).toHaveLength(1);
  });

  it('can be used again after a refusal, which is shown', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <ChangesBar />);
    await emit(STARTED, CHANGED, END);
    await click(byId(node, 'da-undo'));
    await emit({
      type: 'error',
      turnId: undefined,
      code: 'not_found',
      message: 'Nothing was undone: cars.ipynb is not there.',
      retryable: false
    });
    expect(model.notice.current?.message).toContain('not there');
    expect((byId(node, 'da-undo') as HTMLButtonElement).disabled).toBe(false);
  });

  it('is silent about what another tab decided', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <ChangesBar />);
    await emit(STARTED, CHANGED, END, {
      type: 'changes_undone',
      ofTurnId: 'turn_1',
      changes: [],
      conflicts: []
    });
    expect(byId(node, 'da-changes')).toBeNull();
    expect(model.notice.current).toBeNull();
  });
});

describe('a cell that both changed', () => {
  const asked: EventInput = {
    type: 'changes_undone',
    ofTurnId: 'turn_1',
    changes: [change('c4')],
    conflicts: [CONFLICT],
    cellIds: ['c4']
  };

  it('shows both versions, and each answer is an op', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(STARTED, CHANGED, END, asked);
    const card = byId(node, 'da-conflict')!;
    expect(card.textContent).toContain('Cell 5 was edited in the meantime.');
    expect(card.textContent).toContain('- mine');
    expect(card.textContent).toContain('+ old');
    await click(button(node, 'Restore the earlier text'));
    await emit({ ...asked, changes: [], cellIds: [] });
    await click(button(node, 'Keep the current version'));
    expect(ops()).toEqual([
      { type: 'undo', turnId: 'turn_1', cellIds: ['c5'], overwrite: true },
      { type: 'keep', turnId: 'turn_1', cellIds: ['c5'] }
    ]);
    await emit({ type: 'changes_kept', ofTurnId: 'turn_1', cellIds: ['c5'] });
    expect(byId(node, 'da-conflict')).toBeNull();
  });

  it('that the agent had added is to be removed, or stays', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    const { before: _, ...added } = CONFLICT;
    await emit(STARTED, CHANGED, END, { ...asked, conflicts: [added] });
    expect(button(node, 'Delete the cell')).toBeDefined();
  });
});

describe('an older turn', () => {
  it('offers to take its changes back at its foot; the newest does in the bar', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Conversation />);
    const later = (event: EventInput) => ({ ...event, turnId: 'turn_2' });
    await emit(STARTED, CHANGED, END);
    expect(byId(node, 'da-undo-older')).toBeNull();
    await emit(later(STARTED), later(CHANGED), later(END));
    await click(byId(node, 'da-undo-older'));
    expect(ops()).toMatchObject([{ type: 'undo', turnId: 'turn_1' }]);
  });
});

describe('undo by the palette', () => {
  it('is about the newest open turn, and says so where there is none', async () => {
    const { model, emit, ops } = await makePanel();
    model.undoNewest();
    expect(model.notice.current?.message).toBe('Nothing to undo.');
    await emit(STARTED, CHANGED, END);
    await doing(() => model.undoNewest());
    expect(ops()).toMatchObject([{ type: 'undo', turnId: 'turn_1' }]);
  });
});

describe('cells with outputs older than their code', () => {
  const STALE: EventInput = {
    type: 'cells_stale',
    path: 'cars.ipynb',
    cellIds: ['c4', 'c5']
  };

  it('are run with what follows from them', async () => {
    const { model, emit, client } = await makePanel();
    const node = await draw(model, <StaleLine />);
    await emit(STARTED, STALE, END);
    expect(node.textContent).toContain('2 cells have outdated output');
    await click(button(node, 'Run them'));
    expect(client.toolCalls).toMatchObject([
      {
        name: 'runNotebookCells',
        body: {
          path: 'cars.ipynb',
          arguments: { cellIds: ['c4', 'c5'], includeDependents: true },
          mode: 'agent'
        }
      }
    ]);
    expect(node.textContent).toBe('');
  });

  it('stay listed, with the error, when one of them fails', async () => {
    const { model, emit, client } = await makePanel();
    const node = await draw(model, <StaleLine />);
    client.toolResult = {
      ok: true,
      output: {
        runs: [
          { status: 'error', error: { ename: 'KeyError', evalue: "'a'" } }
        ],
        staleCells: ['c5']
      }
    };
    await emit(STARTED, STALE, END);
    await click(button(node, 'Run them'));
    expect(model.notice.current?.message).toContain("KeyError: 'a'");
    expect(node.textContent).toContain('1 cell has outdated output');
  });

  it('are fewer when the user ran one', async () => {
    const { model, emit, editor } = await makePanel();
    const node = await draw(model, <StaleLine />);
    await emit(STARTED, STALE, END);
    await doing(() => editor.ran.emit({ path: 'cars.ipynb', cellId: 'c4' }));
    expect(node.textContent).toContain('1 cell has outdated output');
  });
});
