import React, { act } from 'react';

import { EventInput } from '../../__tests__/fakes';
import { STARTED, call } from '../../../session/__tests__/events';
import { abortLabel } from '../../../session/turnLabels';
import { Header } from '../../sessionList/Header';
import { KeptPlan, Plan } from '../Plan';
import { PlanFirst } from '../../composer/PlanFirst';
import {
  button,
  clear,
  click,
  doing,
  draw,
  makePanel,
  settle
} from '../../__tests__/render';

afterEach(() => {
  clear();
  window.sessionStorage.clear();
});

type PlanEvent = Extract<EventInput, { type: 'plan_updated' }>;

const STEPS = ['Load', 'Plot', 'Conclude'];

const plan = (
  state: PlanEvent['state'],
  done = 0,
  descriptions = STEPS
): PlanEvent => ({
  type: 'plan_updated',
  state,
  steps: descriptions.map((description, index) => ({
    description,
    toolCalls: ['runNotebookCells'],
    status: index < done ? ('completed' as const) : ('pending' as const)
  })),
  requiredTools: ['addNotebookCell', 'runNotebookCells'],
  requiredToolLabels: {
    addNotebookCell: 'Add a cell',
    runNotebookCells: 'Run cells'
  },
  estimatedDuration: '2 minutes'
});

const byId = (node: HTMLElement, id: string) =>
  node.querySelector<HTMLElement>(`[data-testid="${id}"]`);
const fields = (node: HTMLElement) => [
  ...node.querySelectorAll<HTMLTextAreaElement>('[data-testid="da-plan-step"]')
];

async function write(field: HTMLTextAreaElement, text: string) {
  const { set } = Object.getOwnPropertyDescriptor(
    HTMLTextAreaElement.prototype,
    'value'
  )!;
  await act(async () => {
    set!.call(field, text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await settle();
  });
}

async function key(field: HTMLElement, init: KeyboardEventInit) {
  await act(async () => {
    field.dispatchEvent(
      new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init })
    );
    await settle();
  });
}

async function proposed() {
  const panel = await makePanel();
  const node = await draw(panel.model, <Plan />);
  await panel.emit(STARTED, plan('proposed'));
  return { ...panel, node };
}

describe('a plan that is proposed', () => {
  it('shows its steps, what it needs, and lights the header', async () => {
    const { model, node } = await proposed();
    const header = await draw(model, <Header />);
    expect(node.textContent).toContain('Plan to approve · 3 steps');
    expect(node.textContent).toContain('Tools: add a cell, run cells');
    expect(node.textContent).toContain('2 minutes');
    expect(header.textContent).toContain('Waiting for you');
  });

  it('says that a ready workflow needs no model', async () => {
    const { node, emit } = await proposed();
    await emit({ ...plan('proposed'), workflow: 'data-analysis-notebook' });
    expect(node.textContent).toContain(
      'Ready workflow, no model: Data analysis notebook'
    );
  });

  it('is approved once, however often it is clicked', async () => {
    const { node, ops } = await proposed();
    await click(byId(node, 'da-plan-approve'));
    await click(byId(node, 'da-plan-approve'));
    expect(ops()).toEqual([{ type: 'plan_decision', decision: 'approve' }]);
  });

  it('shows its steps as long as it can be decided on', async () => {
    const { node } = await proposed();
    expect(byId(node, 'da-plan-approve')).not.toBeNull();
    expect(node.querySelectorAll('li')).toHaveLength(3);
    expect(node.querySelector('[aria-expanded]')).toBeNull();
  });

  it('shows its steps though an earlier one was folded, also once it pauses', async () => {
    const { node, emit } = await proposed();
    await emit(plan('running'));
    await click(node.querySelector('[aria-expanded="true"]'));
    expect(node.querySelector('li')).toBeNull();
    await emit(plan('paused', 1));
    expect(byId(node, 'da-plan-continue')).not.toBeNull();
    expect(node.querySelectorAll('li')).toHaveLength(3);
    await emit(plan('running', 1));
    expect(node.querySelector('li')).toBeNull();
    await emit(
      { type: 'turn_aborted', reason: 'interrupted' },
      { ...STARTED, turnId: 'another' },
      { ...plan('proposed'), turnId: 'another' }
    );
    expect(node.querySelectorAll('li')).toHaveLength(3);
    await emit({ ...plan('running'), turnId: 'another' });
    expect(node.querySelectorAll('li')).toHaveLength(3);
  });

  it('has nothing that hides the editor and its button, whatever was folded', async () => {
    const { node, emit } = await proposed();
    await emit(plan('running'));
    await click(node.querySelector('[aria-expanded]'));
    await emit(plan('paused', 1));
    await click(byId(node, 'da-plan-edit'));
    await write(fields(node)[0], 'Plot by year');
    expect(node.querySelector('[aria-expanded]')).toBeNull();
    expect(byId(node, 'da-plan-run')).not.toBeNull();
    expect(fields(node)[0].value).toBe('Plot by year');
  });

  it('is edited: text, order, additions and removals are sent, and nothing else', async () => {
    const { node, ops } = await proposed();
    await click(byId(node, 'da-plan-edit'));
    await write(fields(node)[1], 'Plot by year');
    await key(fields(node)[2], { key: 'ArrowUp', altKey: true });
    expect(fields(node).map(({ value }) => value)).toEqual([
      'Load',
      'Conclude',
      'Plot by year'
    ]);
    expect(document.activeElement).toBe(fields(node)[1]);
    await key(fields(node)[2], { key: 'Enter' });
    expect(document.activeElement).toBe(fields(node)[3]);
    await write(fields(node)[3], 'Save');
    await click(node.querySelector('[aria-label="Remove step 1"]'));
    await click(byId(node, 'da-plan-run'));
    expect(ops()).toEqual([
      {
        type: 'plan_decision',
        decision: 'edit',
        steps: [
          {
            description: 'Conclude',
            toolCalls: ['runNotebookCells'],
            status: 'pending'
          },
          { description: 'Plot by year', toolCalls: [], status: 'pending' },
          { description: 'Save', toolCalls: [], status: 'pending' }
        ]
      }
    ]);
  });

  it('keeps what was typed, and says why, when the server refuses the steps', async () => {
    const { model, node, emit } = await proposed();
    await click(byId(node, 'da-plan-edit'));
    await write(fields(node)[0], 'Fly');
    await click(byId(node, 'da-plan-run'));
    await emit({
      type: 'error',
      turnId: undefined,
      code: 'invalid_request',
      message: "the tool 'fly' does not exist",
      retryable: false
    });
    expect(node.querySelector('[role="alert"]')?.textContent).toContain('fly');
    expect(fields(node)[0].value).toBe('Fly');
    expect(model.notice.current).toBeNull();
    expect((byId(node, 'da-plan-run') as HTMLButtonElement).disabled).toBe(
      false
    );
  });

  it('keeps what was typed while the panel is drawn anew and text streams', async () => {
    const { model, node, emit } = await proposed();
    await click(byId(node, 'da-plan-edit'));
    await write(fields(node)[0], 'Half a sent');
    await emit({ type: 'text_delta', itemId: 'm', delta: 'Hello' });
    const anew = await draw(model, <Plan />);
    expect(fields(anew)[0].value).toBe('Half a sent');
    await click(byId(anew, 'da-plan-cancel'));
    expect(anew.textContent).toContain('1.Load');
  });

  it('closes the editor when the server has taken the steps', async () => {
    const { node, emit } = await proposed();
    await click(byId(node, 'da-plan-edit'));
    await click(byId(node, 'da-plan-run'));
    await emit(plan('running'));
    expect(byId(node, 'da-plan-editor')).toBeNull();
    expect(node.textContent).toContain('Plan · 0 of 3 done');
    const { node: loaded } = await proposed();
    expect(byId(loaded, 'da-plan-editor')).toBeNull();
  });

  it('keeps the edited steps over a reload, and takes no focus then', async () => {
    const before = await proposed();
    await click(byId(before.node, 'da-plan-edit'));
    await write(fields(before.node)[1], 'Plot by year');
    await click(before.node.querySelector('[aria-label="Remove step 1"]'));
    clear();
    const { node, ops } = await proposed();
    expect(fields(node).map(({ value }) => value)).toEqual([
      'Plot by year',
      'Conclude'
    ]);
    expect(document.activeElement).toBe(document.body);
    await key(fields(node)[1], { key: 'Enter' });
    await write(fields(node)[2], 'Save');
    await click(byId(node, 'da-plan-run'));
    expect(ops()).toEqual([
      {
        type: 'plan_decision',
        decision: 'edit',
        steps: [
          { description: 'Plot by year', toolCalls: [], status: 'pending' },
          {
            description: 'Conclude',
            toolCalls: ['runNotebookCells'],
            status: 'pending'
          },
          { description: 'Save', toolCalls: [], status: 'pending' }
        ]
      }
    ]);
  });

  it('forgets edited steps that were cancelled, or of a plan that is another one now', async () => {
    const first = await proposed();
    await click(byId(first.node, 'da-plan-edit'));
    await write(fields(first.node)[0], 'Fly');
    clear();
    const { model, emit } = await makePanel();
    const other = await draw(model, <Plan />);
    await emit(STARTED, plan('proposed', 0, ['Load', 'Plot']));
    expect(byId(other, 'da-plan-editor')).toBeNull();
    clear();
    const { node } = await proposed();
    await click(byId(node, 'da-plan-cancel'));
    clear();
    const { node: loaded } = await proposed();
    expect(byId(loaded, 'da-plan-editor')).toBeNull();
  });

  it('forgets edited steps when the plan is decided on in another tab', async () => {
    for (const decided of [
      plan('running'),
      { type: 'turn_aborted', reason: 'interrupted' } as const
    ]) {
      const { node, emit } = await proposed();
      await click(byId(node, 'da-plan-edit'));
      await emit(decided);
      clear();
      const { node: loaded } = await proposed();
      expect(byId(loaded, 'da-plan-approve')).not.toBeNull();
      clear();
    }
  });
});

describe('a plan that runs', () => {
  it('names its tools also where it was not approved first', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Plan />);
    await emit(STARTED, plan('running'));
    expect(node.textContent).toContain('Tools: add a cell, run cells');
  });

  it('shows what its steps need, and which are not begun for one that failed', async () => {
    const { node, emit } = await proposed();
    const needing = (state: PlanEvent['state'], failed: boolean) => {
      const event = plan(state, 0, ['Load', 'Look', 'Plot', 'Conclude']);
      const needs = [[], [], [0], [1, 2]];
      const steps = event.steps.map((step, index) => ({
        ...step,
        dependencies: needs[index],
        status: failed && index === 0 ? ('failed' as const) : step.status
      }));
      return { ...event, steps };
    };
    await emit(needing('proposed', false));
    const lines = () =>
      [...node.querySelectorAll('li')].map(line => line.textContent);
    expect(lines()[2]).toContain('needs step 1');
    expect(lines()[3]).toContain('needs steps 2 and 3');
    expect(node.textContent).not.toContain('Not started');
    await emit(needing('running', true));
    expect(lines()[1]).not.toContain('Not started');
    expect(lines()[2]).toContain('Not started: it needs step 1, which failed');
    expect(lines()[3]).toContain('Not started: it needs step 1, which failed');
  });

  it('is paused after its step, and goes on', async () => {
    const { node, emit, ops } = await proposed();
    await emit(plan('running'));
    await click(byId(node, 'da-plan-pause'));
    await emit(plan('running', 1));
    expect(node.textContent).toContain('Pausing after this step');
    await emit(plan('paused', 1));
    expect(node.textContent).toContain('Plan paused · 1 of 3 done');
    await click(byId(node, 'da-plan-continue'));
    expect(ops()).toEqual([{ type: 'pause' }, { type: 'resume' }]);
  });

  it('keeps its done steps as they are when it is edited', async () => {
    const { node, emit, ops } = await proposed();
    await emit(plan('running'), plan('paused', 1));
    await click(byId(node, 'da-plan-edit'));
    expect(fields(node).map(({ value }) => value)).toEqual([
      'Plot',
      'Conclude'
    ]);
    // It is the first that can be moved.
    await key(fields(node)[0], { key: 'ArrowUp', altKey: true });
    await click(byId(node, 'da-plan-run'));
    const [op] = ops();
    expect(op.type === 'plan_decision' && op.steps?.[0]).toEqual({
      description: 'Load',
      toolCalls: ['runNotebookCells'],
      status: 'completed'
    });
  });

  it('reports a refusal that is not about the editor as always', async () => {
    const { model, node, emit } = await proposed();
    await emit(plan('running'));
    await click(byId(node, 'da-plan-pause'));
    await emit({
      type: 'error',
      turnId: undefined,
      code: 'invalid_request',
      message: 'No plan is running.',
      retryable: false
    });
    expect(model.notice.current?.message).toContain('No plan');
    expect(byId(node, 'da-plan-pause')).not.toBeNull();
  });
});

describe('a plan that stopped', () => {
  const ended = (decision: 'deny' | 'expired'): EventInput[] => {
    const stopped = plan('stopped');
    stopped.steps[0].status = 'failed';
    const [begun, given, output] = call('c', 'addNotebookCell', 'denied');
    return [
      STARTED,
      plan('running'),
      begun,
      given,
      {
        type: 'approval_requested',
        approvalId: 'a',
        callId: 'c',
        name: 'addNotebookCell',
        arguments: {},
        reason: 'It changes the notebook',
        destructive: false
      },
      { type: 'approval_resolved', approvalId: 'a', decision },
      output,
      {
        type: 'step_finished',
        index: 0,
        success: false,
        message: 'The user did not approve this call'
      },
      stopped,
      { type: 'turn_aborted', reason: 'error' }
    ];
  };
  const drawn = async (decision: 'deny' | 'expired') => {
    const { model, emit } = await makePanel();
    await emit(...ended(decision));
    const turn = model.shown.current.store.turn('turn_1').current;
    return {
      node: await draw(model, <KeptPlan turn={turn} />),
      label: abortLabel(turn)
    };
  };

  it('because the user did not approve an act says so, and not that it failed', async () => {
    const { node, label } = await drawn('deny');
    expect(label).toBe('You declined this.');
    expect(node.textContent).toContain('LoadYou declined this.not done');
    expect(node.textContent).not.toContain('failed');
    expect(node.querySelector('[data-kind="failed"]')).toBeNull();
    expect(byId(node, 'da-plan-continue')?.className).not.toContain('primary');
  });

  it('because nobody answered failed, and offers to go on', async () => {
    const { node, label } = await drawn('expired');
    expect(label).toBe('Stopped by an error.');
    expect(node.textContent).toContain('failed');
    expect(byId(node, 'da-plan-continue')?.className).toContain('primary');
  });
});

describe('Plan first', () => {
  it('is there in Agent mode, is remembered by the session and sent', async () => {
    const { model, client, ops } = await makePanel();
    const node = await draw(model, <PlanFirst />);
    expect(byId(node, 'da-plan-first')).toBeNull();
    await doing(() => model.composerState.choose({ mode: 'agent' }));
    await click(button(node, 'Plan first'));
    expect(byId(node, 'da-plan-first')?.getAttribute('aria-checked')).toBe(
      'true'
    );
    expect(client.patches[client.patches.length - 1].settings?.planFirst).toBe(
      true
    );
    await doing(() => model.send('Do it'));
    const [op] = ops();
    expect(op.type === 'user_message' && op.request.planFirst).toBe(true);
  });

  it('and agent: need no model: a ready workflow may do it', async () => {
    const { model, client, ops } = await makePanel();
    client.modelsReply = {
      models: [],
      locked: false,
      canConnect: true,
      lockedChoices: [],
      ready: false,
      connections: [],
      default: 'none'
    };
    await doing(() => model.refreshModels());
    expect(await model.send('Hello')).toBe(false);
    expect(await model.send('agent: analyse it')).toBe(true);
    expect(ops()).toHaveLength(1);
  });
});
