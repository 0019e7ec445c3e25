import type { YNotebook } from '@jupyter/ydoc';
import { NotebookActions } from '@jupyterlab/notebook';
import { defaultRenderMime } from '@jupyterlab/rendermime/lib/testutils';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';

import { CellTarget } from '../cellTarget';
import { InlineController } from '../controller';
import { keysInBoxes } from '../keys';
import { InlineModel } from '../model';
import { InlineSessions } from '../sessions';
import {
  FakeClient,
  FakeConnection,
  FakeMemory
} from '../../panel/__tests__/fakes';
import { until } from '../../api/__tests__/support';
import {
  code,
  IOpenNotebook,
  markdown,
  open
} from '../../notebook/__tests__/support';

const PATH = 'a.ipynb';
const CHANGED = 'a = 10\nb = 2\nc = 30';

let notebook: IOpenNotebook;
let connection: FakeConnection;
let sessions: InlineSessions;
let controller: InlineController;

beforeAll(() => {
  globalThis.ResizeObserver ??= class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  Element.prototype.scrollIntoView ??= () => undefined;
});

beforeEach(async () => {
  notebook = await open([
    code('first', 'a = 1\nb = 2\nc = 3'),
    markdown('title', '# Title'),
    code('last', 'z = 1')
  ]);
  connection = new FakeConnection();
  const memories = new Map<string, FakeMemory>();
  sessions = new InlineSessions(new FakeClient(), key => {
    memories.set(key, memories.get(key) ?? new FakeMemory());
    return memories.get(key)!;
  });
  controller = newController();
});

afterEach(() => notebook.close());

function newController(): InlineController {
  return new InlineController({
    client: new FakeClient(),
    connection,
    sessions,
    rendermime: defaultRenderMime(),
    keys: keysInBoxes(new CommandRegistry(), new Set()),
    openPath: () => undefined
  });
}

function shared(): YNotebook {
  return notebook.panel.model!.sharedModel as YNotebook;
}

function widget(id: string): Widget {
  return notebook.panel.content.widgets.find(({ model }) => model.id === id)!;
}

/** Open the chat on a cell, as its command does. */
async function openOn(cellId: string): Promise<InlineModel> {
  const { panel } = notebook;
  const place = { view: panel, cellId, where: 'above' as const };
  const cell = panel.content.widgets.find(({ model }) => model.id === cellId)!;
  return controller.open(
    place,
    () => new CellTarget(panel, cell, PATH),
    await controller.leftAside(PATH, place)
  );
}

const fence = (info: string, source: string) =>
  `\`\`\`${info}\n${source}\n\`\`\`\n`;

/** Ask in a chat and have it answered; not `isOver`, as far as that. */
async function ask(
  chat: InlineModel,
  answer: string,
  isOver = true
): Promise<void> {
  connection.onOp = (sessionId, op, opId) => {
    if (op.type === 'user_message') {
      connection.emit(sessionId, {
        type: 'turn_started',
        turnId: opId,
        opId
      } as never);
      connection.emit(sessionId, {
        type: 'text_delta',
        turnId: opId,
        itemId: 'item',
        delta: answer
      } as never);
      if (isOver) {
        connection.emit(sessionId, {
          type: 'turn_completed',
          turnId: opId
        } as never);
      }
    } else if (op.type === 'interrupt') {
      const [turn] = connection.events(sessionId).slice(-1);
      connection.emit(sessionId, {
        type: 'turn_aborted',
        turnId: turn.turnId,
        reason: 'interrupted'
      } as never);
    }
  };
  await chat.send('Change it');
  await until(() => !isOver || !chat.isWorking);
  await until(() => added('first').length > 0);
}

/** The new lines that are proposed in a cell. */
function added(id: string): (string | null)[] {
  const lines = widget(id).node.querySelectorAll('.da-added-line');
  return [...lines].map(({ textContent }) => textContent);
}

function box(id: string): Element | null {
  return widget(id).node.querySelector('.da-inline');
}

const isWhole = () =>
  until(() => added('first').join() === 'a = 10,c = 30' && !!box('first'));

describe('an inline chat', () => {
  it.each<[string, () => void]>([
    ['moved down', () => shared().moveCell(0, 2)],
    [
      'moved by the notebook’s command',
      () => {
        notebook.panel.content.activeCellIndex = 0;
        NotebookActions.moveDown(notebook.panel.content);
      }
    ],
    [
      'made Markdown',
      () => {
        notebook.panel.content.activeCellIndex = 0;
        NotebookActions.changeCellType(notebook.panel.content, 'markdown');
      }
    ],
    [
      'made raw',
      () => {
        notebook.panel.content.activeCellIndex = 0;
        NotebookActions.changeCellType(notebook.panel.content, 'raw');
      }
    ],
    [
      'made anew with others in one step',
      () =>
        shared().transact(() => {
          shared().moveCell(0, 2);
          shared().insertCell(0, { cell_type: 'code', source: 'new' });
        })
    ]
  ])('goes with a cell that is %s, and back with the undo', async (_, move) => {
    const chat = await openOn('first');
    await ask(chat, fence('python cell=first', CHANGED));
    await isWhole();
    chat.typed('And then');
    const before = widget('first');
    move();
    await isWhole();
    expect(widget('first')).not.toBe(before);
    expect(chat.isDisposed).toBe(false);
    expect(chat.state.current.pending.count).toBe(2);
    const field = () => box('first')!.querySelector('textarea');
    await until(() => field()?.value === 'And then');
    shared().undo();
    await isWhole();
    shared().redo();
    await isWhole();
    chat.acceptAll();
    expect(notebook.source('first')).toBe(CHANGED);
    expect(chat.isDisposed).toBe(true);
  });

  it('keeps what was decided where the cell is moved in between', async () => {
    const chat = await openOn('first');
    await ask(chat, fence('python cell=first', 'a = 10\nb = 20\nc = 30'));
    await ask(chat, fence('python cell=first', `${CHANGED}\nd = 4`));
    await until(() => chat.state.current.pending.count === 2);
    chat.proposals.decide(false);
    expect(added('first')).toEqual(['c = 30', 'd = 4']);
    shared().moveCell(0, 2);
    await until(() => added('first').join() === 'c = 30,d = 4');
    chat.proposals.decide(true);
    shared().moveCell(2, 0);
    expect(notebook.source('first')).toBe('a = 1\nb = 2\nc = 30\nd = 4');
    expect(chat.isDisposed).toBe(true);
    expect(sessions.decided.of(PATH)).toEqual([
      { kind: 'cell', target: 'first', outcome: 'accepted_in_part' }
    ]);
  });

  it('goes on with an answer that streams meanwhile', async () => {
    const chat = await openOn('first');
    await ask(chat, '```python cell=first\na = 10\nb = 2\n', false);
    shared().moveCell(0, 2);
    await until(() => added('first').join() === 'a = 10' && !!box('first'));
    const [{ sessionId }] = connection.ops;
    const events = connection.events(sessionId);
    const { turnId } = events[events.length - 1];
    connection.emit(sessionId, {
      type: 'text_delta',
      turnId,
      itemId: 'item',
      delta: 'c = 30\n```\n'
    } as never);
    connection.emit(sessionId, { type: 'turn_completed', turnId } as never);
    await isWhole();
    expect(chat.state.current.pending.isComplete).toBe(true);
  });

  it('keeps its proposals for other cells where those are moved or deleted', async () => {
    const chat = await openOn('first');
    const after = fence('python after=last', 'print(z)');
    const other = fence('python cell=last', 'z = 10');
    await ask(chat, fence('python cell=first', CHANGED) + other + after);
    const inLast = () => added('last').join();
    await until(() => inLast() === 'z = 10,print(z)');
    expect(chat.state.current.pending.count).toBe(4);
    shared().moveCell(2, 1);
    await until(() => inLast() === 'z = 10,print(z)');
    shared().undoManager.stopCapturing();
    shared().deleteCell(1);
    await until(() => chat.state.current.pending.count === 2);
    expect(chat.isDisposed).toBe(false);
    shared().undo();
    await until(() => inLast() === 'z = 10,print(z)');
    expect(chat.state.current.notice).toBeNull();
    chat.acceptAll();
    expect(notebook.source('last')).toBe('z = 10');
    expect(shared().cells.map(cell => cell.getSource())).toEqual([
      CHANGED,
      'z = 10',
      'print(z)',
      '# Title'
    ]);
  });

  it('is closed by the deletion of its cell, and comes back with the undo of that', async () => {
    const chat = await openOn('first');
    await ask(chat, fence('python cell=first', CHANGED));
    await isWhole();
    chat.typed('And then');
    shared().deleteCell(0);
    await until(() => chat.state.current.pending.count === 0);
    expect(notebook.panel.node.querySelector('.da-inline')).toBeNull();
    expect(chat.target.obstacle).toBe('The cell no longer exists.');
    shared().undo();
    await isWhole();
    expect(chat.draft).toBe('And then');
    chat.acceptAll();
    expect(notebook.source('first')).toBe(CHANGED);
  });

  it('ends with its notebook, in which it is open again', async () => {
    const chat = await openOn('first');
    await ask(chat, fence('python cell=first', CHANGED));
    await isWhole();
    notebook.panel.dispose();
    expect(chat.isDisposed).toBe(true);
    const [kept] = await sessions.openChats(PATH).all();
    expect(kept).toMatchObject({ cellId: 'first', message: 'Change it' });
    expect(kept.isAside).toBeUndefined();
    expect(sessions.decided.of(PATH)).toEqual([]);
  });
});

it('shows an answer that is one plain block as a diff alone, once it is over', async () => {
  const chat = await openOn('first');
  await ask(chat, fence('python', CHANGED));
  await isWhole();
  // What was to be shown in the next frame.
  await new Promise(resolve => requestAnimationFrame(resolve));
  await new Promise(resolve => requestAnimationFrame(resolve));
  expect(chat.state.current.prose).toBe('');
  expect(chat.state.current.pending.count).toBe(2);
});

it('shows code for a cell that is not there as code, to be applied or inserted', async () => {
  const chat = await openOn('first');
  const lost = fence('python cell=cellId', 'x = "```"');
  await ask(chat, `So:\n${lost}${fence('python cell=first', CHANGED)}`);
  await isWhole();
  await until(() => chat.state.current.notice !== null);
  expect(chat.state.current.notice).toContain('cellId, which is not in');
  expect(chat.state.current.prose).toBe('So:\n\n````python\nx = "```"\n````');
  expect(chat.state.current.pending.count).toBe(2);
});

describe('Escape', () => {
  it('leaves a proposal and what is typed, which are there when the chat is opened again', async () => {
    const chat = await openOn('first');
    await ask(chat, fence('python cell=first', CHANGED));
    await isWhole();
    chat.proposals.decide(false);
    chat.typed('And then');
    chat.putAside();
    expect(notebook.panel.node.querySelector('.da-inline')).toBeNull();
    expect(added('first')).toEqual([]);
    expect(
      controller.of({ view: notebook.panel, cellId: 'first', where: 'above' })
    ).toBeNull();
    // Meanwhile the cell is moved.
    shared().moveCell(0, 2);
    await Promise.resolve();
    expect(notebook.panel.node.querySelector('.da-inline')).toBeNull();
    expect(await openOn('first')).toBe(chat);
    await until(() => added('first').join() === 'c = 30' && !!box('first'));
    expect(chat.draft).toBe('And then');
    const field = () => box('first')!.querySelector('textarea');
    await until(() => field()?.value === 'And then');
    expect(sessions.decided.of(PATH)).toEqual([]);
    chat.acceptAll();
    expect(notebook.source('first')).toBe('a = 1\nb = 2\nc = 30');
  });

  it('does so also where the page was loaded meanwhile', async () => {
    const chat = await openOn('first');
    await ask(chat, fence('python cell=first', CHANGED));
    chat.typed('And then');
    chat.putAside();
    const [kept] = await sessions.openChats(PATH).all();
    expect(kept).toMatchObject({ isAside: true, draft: 'And then' });
    controller = newController();
    const again = await openOn('first');
    expect(again).not.toBe(chat);
    await isWhole();
    expect(again.draft).toBe('And then');
    expect((await sessions.openChats(PATH).all())[0].isAside).toBeUndefined();
  });

  it('stops an answer, of which what has come is kept', async () => {
    const chat = await openOn('first');
    await ask(chat, '```python cell=first\na = 10\nb = 2\n', false);
    chat.putAside();
    await until(() => !chat.isWorking);
    expect(connection.ops.map(({ op }) => op.type)).toContain('interrupt');
    expect(added('first')).toEqual([]);
    await openOn('first');
    await until(() => added('first').join() === 'a = 10');
    expect(chat.state.current.notice).toBe('Stopped.');
    expect(chat.state.current.again).not.toBeNull();
  });

  it('keeps what is typed while something is looked up, after which nothing is asked', async () => {
    const chat = await openOn('first');
    chat.typed('And then');
    chat.busy('Explain the error', 'Looking');
    chat.putAside();
    await chat.send('Explain the error of this cell');
    expect(connection.ops).toEqual([]);
    await openOn('first');
    expect(chat.isWorking).toBe(false);
    expect(chat.draft).toBe('And then');

    const other = await openOn('last');
    other.busy('Explain the error', 'Looking');
    other.putAside();
    expect(other.isDisposed).toBe(true);
  });

  it('ends a chat with nothing to lose', async () => {
    const chat = await openOn('first');
    chat.typed(' ');
    chat.putAside();
    expect(chat.isDisposed).toBe(true);
    expect(await openOn('first')).not.toBe(chat);
  });

  it('is not what rejecting is: that is for good, and is reported', async () => {
    const chat = await openOn('first');
    await ask(chat, fence('python cell=first', CHANGED));
    await isWhole();
    chat.close();
    expect(sessions.decided.of(PATH)).toEqual([
      { kind: 'cell', target: 'first', outcome: 'rejected' }
    ]);
    const next = await openOn('first');
    expect(next.state.current.pending.count).toBe(0);
  });
});
