import { defaultRenderMime } from '@jupyterlab/rendermime/lib/testutils';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import {
  EventInput,
  FakeClient,
  FakeConnection,
  FakeMemory
} from '../../panel/__tests__/fakes';
import {
  button,
  click,
  doing,
  press,
  settle,
  type
} from '../../panel/__tests__/render';
import { InlineBox } from '../box';
import { InlineModel } from '../model';
import { InlineSessions } from '../sessions';
import { IInlineTarget } from '../target';

/** A text file around a chat, of which nothing is proposed here. */
function fileTarget(): IInlineTarget {
  const target = {
    path: 'a.py',
    placeholder: 'Ask about this file',
    obstacle: null,
    anchor: { cellId: '', where: 'above' },
    isLeft: false,
    isThere: true,
    isDisposed: false,
    requestContext: () => ({}),
    subject: { kind: 'file', base: '' },
    canRun: () => false,
    focusBack: () => undefined,
    dispose: () => undefined
  } as unknown as IInlineTarget;
  return Object.assign(target, {
    gone: new Signal<IInlineTarget, void>(target),
    moved: new Signal<IInlineTarget, void>(target)
  });
}

/** A chat in which something was asked, as its turn has begun. */
async function asked() {
  const connection = new FakeConnection();
  const sessions = new InlineSessions(new FakeClient(), () => new FakeMemory());
  const model = new InlineModel({
    target: fileTarget(),
    client: new FakeClient(),
    connection,
    sessions,
    onClose: () => undefined,
    onAside: () => undefined
  });
  const box = new InlineBox({
    model,
    rendermime: defaultRenderMime(),
    openPath: () => undefined,
    openFile: () => undefined
  });
  await doing(() => {
    Widget.attach(box, document.body);
    void model.send('What is in it?');
  });
  const [{ sessionId }] = connection.ops;
  const emit = async (...events: EventInput[]) => {
    await doing(() =>
      events.forEach(event =>
        connection.emit(sessionId, { turnId: 'turn_1', ...event })
      )
    );
  };
  await emit({
    type: 'turn_started',
    opId: 'op_1',
    mode: 'edit',
    notebookMode: 'read-only',
    tools: [],
    message: ''
  });
  return { box, connection, emit, model, node: box.node };
}

const ops = (connection: FakeConnection) =>
  connection.ops.slice(1).map(({ op }) => op);

describe('what waits for the user in an inline chat', () => {
  it('is an approval as in the panel, with the same keys', async () => {
    const { box, connection, emit, model, node } = await asked();
    await emit(
      { type: 'tool_call_started', callId: 'c', name: 'getCellOutputs' },
      {
        type: 'approval_requested',
        approvalId: 'ap',
        callId: 'c',
        name: 'getCellOutputs',
        arguments: {},
        reason: 'Outputs are asked about',
        destructive: false,
        share: {
          kinds: ['outputs'],
          text: '42',
          withheld: '',
          ok: true,
          pictures: 0
        }
      }
    );
    expect(model.state.current.activity).toBe('Waiting for your approval');
    expect(node.textContent).toContain('Send outputs to the model?');
    expect(button(node, 'Send')).toBeDefined();
    await click(button(node, "Don't send"));
    expect(ops(connection)).toMatchObject([
      { type: 'approval_decision', approvalId: 'ap', decision: 'deny' }
    ]);
    expect(node.querySelector('.da-waiting')).toBeNull();
    box.dispose();
  });

  it('is a question, answered by its options or in the input of the chat', async () => {
    const { box, connection, emit, model, node } = await asked();
    await emit({
      type: 'user_input_requested',
      requestId: 'q',
      question: 'Which file?',
      options: ['a.csv', 'b.csv']
    });
    const input = node.querySelector('textarea')!;
    expect(model.state.current.activity).toBe('Waiting for your answer');
    expect(input.placeholder).toBe('Or type your own answer');
    expect(node.querySelectorAll('.da-waiting input')).toHaveLength(0);
    await click(button(node, 'b.csv'));
    expect(ops(connection)).toEqual([
      { type: 'user_input_answer', requestId: 'q', answer: 'b.csv' }
    ]);
    expect(node.textContent).not.toContain('Which file?');
    await emit({
      type: 'user_input_requested',
      requestId: 'q2',
      question: 'Which column?'
    });
    await type(input, 'weight');
    await press(input, 'Enter');
    expect(ops(connection)[1]).toEqual({
      type: 'user_input_answer',
      requestId: 'q2',
      answer: 'weight'
    });
    box.dispose();
  });

  it('is a form of an MCP server, with fields of its own', async () => {
    const { box, connection, emit, node } = await asked();
    await emit({
      type: 'user_input_requested',
      requestId: 'q',
      question: 'Which seat?',
      form: {
        server: 'flights',
        schema: {
          type: 'object',
          properties: { row: { type: 'integer', title: 'Row' } }
        }
      }
    });
    await doing(() => import('../../approvals/InputFields').then(settle));
    // The chat's input is not for the answer: it can only be stopped.
    const input = node.querySelector('textarea')!;
    await type(input, 'seven');
    await press(input, 'Enter');
    expect(ops(connection)).toEqual([]);
    await type(node.querySelector<HTMLInputElement>('form input'), '7');
    await click(button(node, 'Send to flights'));
    expect(ops(connection)).toEqual([
      {
        type: 'user_input_answer',
        requestId: 'q',
        form: { action: 'accept', values: { row: 7 } }
      }
    ]);
    box.dispose();
  });

  it('goes with its turn, which says why it ended as in the panel', async () => {
    const { box, emit, model } = await asked();
    await emit(
      { type: 'user_input_requested', requestId: 'q', question: 'Which?' },
      { type: 'turn_aborted', reason: 'token_limit' }
    );
    expect(model.state.current).toMatchObject({
      activity: null,
      waiting: null,
      notice: 'Stopped: token limit reached.'
    });
    box.dispose();
  });
});
