import React from 'react';

import { STARTED, USAGE, call } from '../../../session/__tests__/events';
import { Conversation } from '../Conversation';
import {
  clear,
  button,
  click,
  doing,
  draw,
  makePanel,
  press,
  settle,
  type
} from '../../__tests__/render';

global.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

const find = (node: HTMLElement, testId: string) =>
  node.querySelectorAll<HTMLElement>(`[data-testid="${testId}"]`);

afterEach(clear);

describe('the conversation', () => {
  it('shows who said what', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(STARTED, {
      type: 'text_delta',
      itemId: 'a',
      delta: 'It is **104.5**.'
    });
    const messages = find(node, 'da-message');
    expect([...messages].map(item => item.dataset.role)).toEqual([
      'user',
      'assistant'
    ]);
    expect(messages[0].textContent).toBe('Find the mean');
    expect(messages[1].querySelector('strong')?.textContent).toBe('104.5');
  });

  it('reports a turn whose end could not be stored once, also when the server closes it later', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    const unsaved = { seq: 0 };
    await emit(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'It is 104.5.' },
      {
        ...unsaved,
        type: 'error',
        code: 'internal',
        message: 'The database is full.',
        retryable: true
      },
      { ...unsaved, type: 'turn_aborted', reason: 'error' }
    );
    const reports = () =>
      node.textContent?.match(/The database is full\./g)?.length;
    expect(reports()).toBe(1);
    // The error says it: the end of the turn does not say it again.
    expect(node.textContent).not.toContain('Stopped');
    expect(model.notice.current).toBeNull();
    // The session is loaded again, and the turn gets the end that it lacks.
    await emit({ type: 'turn_aborted', reason: 'error' });
    expect(reports()).toBe(1);
    expect(node.textContent).not.toContain('Stopped');
    expect(node.textContent).toContain('It is 104.5.');
  });

  it('draws nothing anew but the message that grows', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(
      STARTED,
      { type: 'text_delta', itemId: 'a', delta: 'First.' },
      ...call('c1', 'getNotebookCells', 'ok', { summary: 'Read 3 cells' }),
      { type: 'text_delta', itemId: 'b', delta: 'One.\n\nTwo' }
    );
    const touched: Node[] = [];
    const observer = new MutationObserver(records =>
      touched.push(...records.map(record => record.target))
    );
    observer.observe(node, {
      childList: true,
      subtree: true,
      characterData: true
    });
    await emit({ type: 'text_delta', itemId: 'b', delta: ' and more' });
    observer.disconnect();
    const growing = [...node.querySelectorAll('.da-block')].pop()!;
    expect(growing.textContent).toBe('Two and more');
    expect(touched.length).toBeGreaterThan(0);
    expect(touched.filter(item => !growing.contains(item))).toEqual([]);
  });

  it('loads no image that an answer names', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(STARTED, {
      type: 'text_delta',
      itemId: 'a',
      delta: '![x](https://spy.example/p.png)'
    });
    expect(node.querySelector('img')).toBeNull();
    const load = node.querySelector('.da-remote-picture')!;
    expect(load.textContent).toBe('Load the picture “x” from spy.example');
    expect(load.getAttribute('title')).toBe('https://spy.example/p.png');
  });

  it('shows code while it is written, and puts a copy button on it when it is whole', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(STARTED, {
      type: 'text_delta',
      itemId: 'a',
      delta: '```python\na = 1\n'
    });
    expect(node.querySelector('pre')?.textContent).toBe('a = 1\n');
    expect(node.querySelector('.da-copy')).toBeNull();
    await emit({ type: 'text_delta', itemId: 'a', delta: '```\nDone.' });
    expect(node.querySelector('pre')?.textContent).toBe('a = 1');
    expect(node.querySelectorAll('[aria-label="Copy code"]')).toHaveLength(1);
  });
});

describe('an answer in Ask mode to who asked for cells', () => {
  it('has a button that goes to Agent mode with the active notebook', async () => {
    const { model, emit } = await makePanel();
    model.composerState.choose({ mode: 'ask' });
    const node = await draw(model, <Conversation />);
    const asked = (message: string): Parameters<typeof emit> => [
      { ...STARTED, mode: 'ask', message },
      { type: 'text_delta', itemId: 'a', delta: 'Not in Ask mode.' },
      { type: 'turn_completed', durationMs: 5, usage: USAGE }
    ];
    await emit(...asked('What does this notebook do?'));
    expect(find(node, 'da-add-and-send')).toHaveLength(0);
    await emit(
      ...asked('Add a cell and run it').map(each => ({
        ...each,
        turnId: 'turn_2'
      }))
    );
    const [again] = find(node, 'da-add-and-send');
    expect(again.textContent).toBe('Switch to Agent mode and send again');
    await click(again);
    expect(model.composerState.current).toMatchObject({
      mode: 'agent',
      attachments: [{ kind: 'notebook', path: 'cars.ipynb' }]
    });
  });
});

describe('a tool call', () => {
  it('is a line with its real result, which opens to what is known of it', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(
      STARTED,
      ...call('c1', 'runNotebookCells', 'error', {
        arguments: { cellIds: ['c5'] },
        output: '{"error":{"message":"KeyError"}}',
        summary: "Cell 5 failed: KeyError 'Horsepowr'"
      })
    );
    const [tool] = find(node, 'da-tool-call');
    expect(tool.dataset.status).toBe('error');
    const line = tool.querySelector('button')!;
    expect(line.textContent).toContain("Cell 5 failed: KeyError 'Horsepowr'");
    expect(line.getAttribute('aria-expanded')).toBe('false');
    await click(line);
    expect(line.getAttribute('aria-expanded')).toBe('true');
    // The cell as people name it; its id is for who looks for it.
    expect(tool.textContent).toContain('cell 5 · cars["Horsepower"].mean()');
    expect(tool.textContent).not.toContain('c5');
    const named = tool.querySelector<HTMLElement>('[data-cell-ids="c5"]')!;
    expect(named.title).toBe('Cell 5 has the id c5');
    expect(tool.textContent).toContain('message: KeyError');
  });

  it('says what runs, in the words of the server where it has some', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(
      STARTED,
      ...call('c1', 'runNotebookCells', 'running', {
        arguments: { cellIds: ['c5'] }
      })
    );
    expect(find(node, 'da-tool-call')[0].textContent).toContain(
      'Running cell 5'
    );
    await emit({ type: 'status', message: 'Waiting for the kernel' });
    expect(find(node, 'da-tool-call')[0].textContent).toContain(
      'Waiting for the kernel'
    );
  });
});

describe('an approval', () => {
  const asked = async (
    more: Record<string, unknown> = {},
    name = 'deleteNotebookCells'
  ) => {
    const panel = await makePanel();
    const node = await draw(panel.model, <Conversation />);
    await panel.emit(
      STARTED,
      ...call('c1', name, 'running', { arguments: { cellIds: ['c4'] } }),
      {
        type: 'approval_requested',
        approvalId: 'ap',
        callId: 'c1',
        name,
        arguments: { cellIds: ['c4'] },
        reason: 'It deletes a cell.',
        destructive: true,
        changes: [
          {
            path: 'cars.ipynb',
            op: 'delete',
            cellId: 'c4',
            index: 3,
            before: 'old'
          }
        ],
        ...more
      }
    );
    return { ...panel, node };
  };

  it('of code that runs says what it wants to do, and not that it would be run', async () => {
    const reason = 'Cell 2 wants to delete cars.csv (line 1)';
    const act = { kind: 'removes or moves files', target: 'cars.csv' };
    const more = { reason, changes: null, act };
    const { node } = await asked(more, 'runNotebookCells');
    const card = node.querySelector('.da-waiting')!;
    expect(card.textContent).toMatch(
      /^Cell 2 wants to delete cars\.csv \(line 1\)The code is running, and waits for your answer\.Approve/
    );
  });

  it('says what and what would change, once, and nothing of it as done', async () => {
    const { node, editor } = await asked();
    const card = node.querySelector('.da-waiting')!;
    expect(card.textContent).toMatch(/^Remove cell 4\?- old\s*Approve/);
    expect(find(node, 'da-tool-call')).toHaveLength(0);
    await click(button(node, 'Remove cell 4'));
    expect(editor.revealed).toEqual([{ path: 'cars.ipynb', cellId: 'c4' }]);
  });

  it('of several cells names each, and what becomes of them once', async () => {
    const removed = (cellId: string, index: number) => ({
      path: 'cars.ipynb',
      op: 'delete',
      cellId,
      index,
      before: 'old'
    });
    const { node } = await asked({
      arguments: { cellIds: ['c4', 'gone'] },
      changes: [removed('c4', 3), removed('gone', 7)]
    });
    expect(node.querySelector('.da-waiting')?.textContent).toMatch(
      /^Remove 2 cells\?Cell 4- old\s*Cell 8- old\s*Approve/
    );
  });

  it('says why, where that is not seen', async () => {
    const change = { path: 'cars.ipynb', op: 'insert', after: 'rm()' };
    const { node } = await asked(
      {
        reason: 'The new cell removes cars.csv (line 1)',
        kinds: ['removes files'],
        changes: [change]
      },
      'addNotebookCell'
    );
    expect(node.querySelector('.da-waiting')?.textContent).toMatch(
      /^Add .*\?The new cell removes cars\.csv \(line 1\)\+ rm\(\)\s*Approve/
    );
  });

  it('of a run names its cells once, and no ids', async () => {
    const { node } = await asked(
      {
        arguments: { cellIds: ['c4'] },
        reason: 'Cell 4 removes cars.csv (line 1)',
        kinds: ['removes files'],
        changes: []
      },
      'runNotebookCells'
    );
    expect(node.querySelector('.da-waiting')?.textContent).toMatch(
      /^Run .*\?Cell 4 removes cars\.csv \(line 1\)Approve/
    );
  });

  it("of another program's tool shows all of its arguments", async () => {
    const { node } = await asked(
      {
        name: 'sendMail',
        label: { action: 'Send a mail', activity: 'Sending a mail' },
        arguments: {
          content: 'Hello',
          code: '1 + 1',
          cellIds: ['c4'],
          to: 'someone@else.org'
        },
        changes: []
      },
      'sendMail'
    );
    const shown = node.querySelector('.da-waiting')!.textContent;
    for (const each of ['Hello', '1 + 1', 'c4', 'someone@else.org']) {
      expect(shown).toContain(each);
    }
  });

  it('says what has changed since the card before', async () => {
    const change = { path: 'a.ipynb', op: 'delete', cellId: 'c4', before: 'x' };
    const { node } = await asked(
      {
        again: true,
        destructive: true,
        reason: 'Cell 4 changed while this waited for you. Deletes 1 cell',
        changes: [change]
      },
      'deleteNotebookCells'
    );
    expect(node.querySelector('.da-waiting')!.textContent).toContain(
      'Cell 4 changed while this waited for you.'
    );
  });

  it('says of code which kinds of act are let through later', async () => {
    const { node } = await asked(
      {
        kinds: ['installs or removes packages']
      },
      'addNotebookCell'
    );
    const title = button(node, 'Approve for this session')!.title;
    expect(title).toContain(
      'every later “Add a cell” that installs or removes packages in this'
    );
  });

  it('is given, for once or for the session, which says what that means', async () => {
    const { node, ops } = await asked();
    const forSession = button(node, 'Approve for this session')!;
    const id = forSession.getAttribute('aria-describedby')!;
    expect(document.getElementById(id)?.textContent).toContain(
      'every later “Remove cells” in this session'
    );
    await click(forSession);
    expect(ops()).toEqual([
      {
        type: 'approval_decision',
        approvalId: 'ap',
        decision: 'approve_for_session',
        feedback: undefined
      }
    ]);
  });

  it('is denied', async () => {
    const { node, ops, emit } = await asked();
    await click(find(node, 'da-deny')[0]);
    expect(ops()).toMatchObject([{ decision: 'deny' }]);
    await emit({
      type: 'approval_resolved',
      approvalId: 'ap',
      decision: 'deny'
    });
    expect(find(node, 'da-approve')).toHaveLength(0);
    expect(node.textContent).toContain('You declined');
  });

  it('takes no focus, and has its answers in the order in which they are given', async () => {
    const { node } = await asked();
    expect(document.activeElement).toBe(document.body);
    const buttons = [...node.querySelectorAll('.da-buttons button')];
    expect(buttons.map(({ textContent }) => textContent)).toEqual([
      'Approve',
      'Approve for this session',
      'Deny',
      'Deny with a reason'
    ]);
    expect(node.querySelector('.da-waiting input')).toBeNull();
  });

  it('is denied with a reason, whose field opens on demand and closes by Escape', async () => {
    const { node, ops } = await asked();
    const opener = button(node, 'Deny with a reason')!;
    const field = () => node.querySelector<HTMLInputElement>('input');
    await click(opener);
    expect(document.activeElement).toBe(field());
    await press(field(), 'Escape');
    expect(field()).toBeNull();
    expect(document.activeElement).toBe(opener);
    await click(opener);
    await type(field(), 'I need it');
    await press(field(), 'Enter');
    expect(ops()).toMatchObject([{ decision: 'deny', feedback: 'I need it' }]);
  });

  it('that was never answered says once that nothing was done', async () => {
    const { node, emit } = await asked();
    await emit(
      { type: 'approval_resolved', approvalId: 'ap', decision: 'aborted' },
      call('c1', 'deleteNotebookCells', 'aborted')[2],
      { type: 'turn_aborted', reason: 'interrupted' }
    );
    expect(find(node, 'da-tool-call')).toHaveLength(0);
    expect(node.textContent).toContain('Remove cell 4: not done');
    expect(node.textContent?.match(/stopped/gi)).toHaveLength(1);
  });
});

describe('a plan', () => {
  it('stays when its turn has ended, folded, with what was not done', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(
      STARTED,
      {
        type: 'plan_updated',
        steps: [
          { description: 'Load', status: 'completed', toolCalls: [] },
          { description: 'Plot', status: 'in_progress', toolCalls: [] },
          { description: 'Explain', status: 'pending', toolCalls: [] }
        ]
      },
      { type: 'turn_aborted', reason: 'interrupted' }
    );
    const [plan] = find(node, 'da-kept-plan');
    const line = plan.querySelector('button')!;
    expect(line.textContent).toBe('Plan · 1 of 3 done');
    expect(plan.querySelector('li')).toBeNull();
    await click(line);
    expect([...plan.querySelectorAll('li')].map(li => li.textContent)).toEqual([
      '1.Load, done',
      '2.Plotnot finished',
      '3.Explainnot done'
    ]);
  });
});

describe('a link in an answer', () => {
  it('to a file opens it here, as seen from the notebook and from the root', async () => {
    const { model, emit, editor } = await makePanel();
    editor.activeNotebook = 'work/cars.ipynb';
    editor.files = ['work/data/cars.csv'];
    const node = await draw(model, <Conversation />);
    await emit(STARTED, {
      type: 'text_delta',
      itemId: 'a',
      delta: 'See [the data](data/cars.csv).'
    });
    await click(node.querySelector('.da-markdown a'));
    expect(editor.opened).toEqual([['work/data/cars.csv', 'data/cars.csv']]);
    expect(model.notice.current).toBeNull();
  });

  it('to a file that is not there says so', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(STARTED, {
      type: 'text_delta',
      itemId: 'a',
      delta: '[x](gone.csv) [y](../../secret)'
    });
    const [gone, outside] = node.querySelectorAll('.da-markdown a');
    await click(gone);
    expect(model.notice.current?.message).toContain('File not found: gone.csv');
    await press(outside as HTMLElement, 'Enter');
    expect(model.notice.current?.message).toContain('is outside');
  });
});

describe('a question', () => {
  it('is answered by one of its options, and shows the answer', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(STARTED, ...call('c1', 'askUser', 'running'), {
      type: 'user_input_requested',
      requestId: 'q',
      question: 'Which column?',
      options: ['Horsepower', 'Weight']
    });
    await click(button(node, 'Weight'));
    expect(ops()).toEqual([
      { type: 'user_input_answer', requestId: 'q', answer: 'Weight' }
    ]);
    const [, , output] = call('c1', 'askUser', 'ok', {
      output: '{"answer":"Weight"}'
    });
    await emit(output);
    expect(button(node, 'Weight')).toBeUndefined();
    expect(node.querySelector('.da-answered')?.textContent).toBe('Weight');
  });
});

describe('a form of an MCP server', () => {
  const ASKED = {
    type: 'user_input_requested' as const,
    requestId: 'q',
    question: 'Which **seat**?',
    form: {
      server: 'flights',
      schema: {
        type: 'object',
        properties: {
          name: { type: 'string', title: '<b>Name</b>' },
          row: { type: 'integer', title: 'Row', maximum: 30, default: 3 }
        },
        required: ['name']
      }
    }
  };

  it('shows its texts as they are and sends what fits', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(STARTED, ...call('c1', 'flights__seat', 'running'), ASKED);
    await doing(() => import('../../../approvals/InputFields').then(settle));
    expect(node.textContent).toContain('Which **seat**?');
    expect(node.textContent).toContain('<b>Name</b>');
    expect(node.textContent).toContain('Enter no passwords');
    await click(button(node, 'Send to flights'));
    expect(ops()).toEqual([]);
    expect(node.textContent).toContain('This field is required.');
    await type(node.querySelector('form input'), 'Ada');
    await click(button(node, 'Send to flights'));
    expect(ops()).toEqual([
      {
        type: 'user_input_answer',
        requestId: 'q',
        form: { action: 'accept', values: { name: 'Ada', row: 3 } }
      }
    ]);
    await emit({
      type: 'user_input_resolved',
      requestId: 'q',
      action: 'accept'
    });
    expect(node.querySelector('form')).toBeNull();
    expect(node.textContent).toContain('You answered: a question of the MCP');
  });

  it.each([
    ['Decline', 'decline', 'You declined to answer'],
    ['Cancel', 'cancel', 'Not answered']
  ] as const)('may be left: %s', async (label, action, shown) => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(STARTED, ...call('c1', 'flights__seat', 'running'), ASKED);
    await doing(() => import('../../../approvals/InputFields').then(settle));
    await click(button(node, label));
    expect(ops()).toMatchObject([{ form: { action, values: {} } }]);
    await emit({ type: 'user_input_resolved', requestId: 'q', action });
    expect(node.textContent).toContain(shown);
  });
});

describe('a turn that ended early', () => {
  it('says what was done before, and what was not', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(
      STARTED,
      ...call('a', 'updateNotebookCell', 'running'),
      {
        type: 'document_changed',
        path: 'cars.ipynb',
        changes: [{ path: 'cars.ipynb', op: 'update', cellId: 'c4', index: 3 }]
      },
      call('a', 'updateNotebookCell')[2],
      ...call('b', 'runNotebookCells', 'running', {
        arguments: { cellIds: ['c4'] }
      }),
      { type: 'turn_aborted', reason: 'interrupted' }
    );
    const lines = [...node.querySelectorAll('.da-stopped > *')];
    expect(lines.map(({ textContent }) => textContent)).toEqual([
      'Completed: changed cell 4.',
      'Stopped. Not finished: running cell 4. Effects of code that already ran remain.'
    ]);
  });

  it('can be tried again where that may help', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(
      STARTED,
      {
        type: 'error',
        code: 'model_error',
        message: 'The provider does not answer.',
        retryable: true
      },
      { type: 'turn_aborted', reason: 'error' }
    );
    expect(node.querySelector('[role="alert"]')?.textContent).toContain(
      'The provider does not answer.'
    );
    await click(button(node, 'Try again'));
    expect(ops()).toMatchObject([
      { type: 'user_message', request: { message: 'Find the mean' } }
    ]);
  });

  it('is tried again with the ready workflow that it was about', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Conversation />);
    const workflow = { id: 'quality', parameters: { data: 'cars.csv' } };
    await emit(
      { ...STARTED, workflow, target: 'work.ipynb' },
      {
        type: 'error',
        code: 'internal',
        message: 'The kernel did not start.',
        retryable: true
      },
      { type: 'turn_aborted', reason: 'error' }
    );
    await click(button(node, 'Try again'));
    expect(ops()).toMatchObject([
      {
        type: 'user_message',
        request: { workflow, activeNotebook: 'work.ipynb' }
      }
    ]);
  });
});
