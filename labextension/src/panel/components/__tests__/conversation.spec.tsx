import React from 'react';

import { STARTED, call } from '../../state/__tests__/events';
import { Conversation } from '../Conversation';
import { clear, button, click, draw, makePanel } from './render';

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
    expect(node.textContent).toContain('https://spy.example/p.png');
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
    expect(node.querySelectorAll('.da-copy')).toHaveLength(1);
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
    expect(tool.textContent).toContain('cellIds:');
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
  const asked = async () => {
    const panel = await makePanel();
    const node = await draw(panel.model, <Conversation />);
    await panel.emit(
      STARTED,
      ...call('c1', 'deleteNotebookCells', 'running', {
        arguments: { cellIds: ['c4'] }
      }),
      {
        type: 'approval_requested',
        approvalId: 'ap',
        callId: 'c1',
        name: 'deleteNotebookCells',
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
        ]
      }
    );
    return { ...panel, node };
  };

  it('says what, why and what would change, and nothing of it as done', async () => {
    const { node } = await asked();
    const card = node.querySelector('.da-waiting')!;
    expect(card.textContent).toContain('Remove cell 4?');
    expect(card.textContent).toContain('It deletes a cell.');
    expect(card.textContent).toContain('- old');
    expect(card.textContent).not.toContain('Removed');
    expect(find(node, 'da-tool-call')).toHaveLength(0);
  });

  it('is given, for once or for the session', async () => {
    const { node, ops } = await asked();
    await click(button(node, 'For this session'));
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
    expect(node.textContent).toContain('Not allowed by you');
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
    const { textContent } = node.querySelector('.da-stopped')!;
    expect(textContent).toContain('You stopped this.');
    expect(textContent).toContain('Done before: changed cell 4.');
    expect(textContent).toContain('Not finished: running cell 4.');
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
});
