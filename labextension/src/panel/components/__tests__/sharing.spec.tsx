import React, { act } from 'react';

import { SharingNow } from '../../../api/types';
import { EventInput } from '../../__tests__/fakes';
import { STARTED, call } from '../../state/__tests__/events';
import { Conversation } from '../Conversation';
import { SharingChoice, shareWords } from '../SharingChoice';
import { clear, draw, makePanel, settle } from './render';

const ALL: SharingNow = { outputs: 'always', rowData: 'always', locked: [] };

const ASKED: EventInput = {
  type: 'approval_requested',
  approvalId: 'approval_1',
  callId: 'call_1',
  name: 'executeCode',
  arguments: { code: 'print(1)' },
  reason: 'The outputs of this executeCode are about to be sent to the model',
  destructive: false,
  share: {
    kinds: ['outputs'],
    text: '{"status":"ok","outputs":"Anna, 31"}',
    withheld:
      '{"status":"ok","outputs":"[output of 8 characters withheld by the person]"}',
    pictures: 1,
    ok: true
  }
};

afterEach(async () => {
  await act(async () => {
    document.querySelector<HTMLElement>('.jp-Dialog .jp-mod-accept')?.click();
    await settle();
  });
  clear();
});

async function choose(kind: string, policy: string) {
  const select = document.querySelector<HTMLSelectElement>(
    `[data-testid="da-sharing-${kind}"]`
  )!;
  await act(async () => {
    select.value = policy;
    select.dispatchEvent(new Event('change', { bubbles: true }));
    await settle();
  });
}

async function opened(sharing: SharingNow) {
  const panel = await makePanel();
  const node = await draw(panel.model, <SharingChoice sharing={sharing} />);
  const button = node.querySelector('button')!;
  await act(async () => {
    button.click();
    await settle();
  });
  return { ...panel, button };
}

describe('what may go to the model', () => {
  it('is said in two or three words', () => {
    const { outputs, rowData } = ALL;
    expect(shareWords({ outputs, rowData })).toBe('sends outputs');
    expect(shareWords({ outputs, rowData: 'ask' })).toBe('asks before rows');
    expect(shareWords({ outputs, rowData: 'never' })).toBe('keeps rows');
    expect(shareWords({ outputs: 'ask', rowData })).toBe('asks before outputs');
    expect(shareWords({ outputs: 'never', rowData })).toBe('keeps outputs');
  });

  it('is chosen for the session, which remembers it', async () => {
    const { model, client, button } = await opened(ALL);
    const patch = jest.spyOn(client, 'patchSession');
    await choose('outputs', 'never');
    await choose('rowData', 'ask');
    expect(patch).toHaveBeenLastCalledWith(
      model.shown.current.sessionId,
      expect.objectContaining({
        settings: expect.objectContaining({ outputs: 'never', rowData: 'ask' })
      })
    );
    expect(button.textContent).toBe('keeps outputs');
  });

  it('is what the server says where nothing was chosen', async () => {
    const { button } = await opened({ ...ALL, rowData: 'never' });
    expect(button.textContent).toBe('keeps rows');
  });

  it('cannot be chosen where the administrator set it', async () => {
    const { model, button } = await opened({
      outputs: 'never',
      rowData: 'always',
      locked: ['outputs']
    });
    const select = document.querySelector<HTMLSelectElement>(
      '[data-testid="da-sharing-outputs"]'
    );
    expect(select?.disabled).toBe(true);
    expect(document.body.textContent).toContain('Set by the administrator');
    await act(async () => model.choices.choose({ outputs: 'always' }));
    expect(button.textContent).toBe('keeps outputs');
  });
});

describe('the question whether something may be sent', () => {
  async function asked() {
    const panel = await makePanel();
    const node = await draw(panel.model, <Conversation />);
    await panel.emit(
      STARTED,
      ...call('call_1', 'executeCode', 'running'),
      ASKED
    );
    const card = () => node.querySelector<HTMLElement>('.da-waiting');
    return { ...panel, node, card };
  }

  it('shows all that would be sent, and that the act is done', async () => {
    const { node, card } = await asked();
    expect(card()?.querySelector('h3')?.textContent).toBe(
      'Send outputs to the model?'
    );
    expect(card()?.textContent).toContain('Anna, 31');
    expect(card()?.textContent).toContain('1 picture goes along');
    expect(card()?.textContent).toContain('is done');
    // The call stands above it: it did something, whatever is answered.
    expect(node.querySelector('[data-testid="da-tool-call"]')).not.toBeNull();
  });

  it('is answered with words of its own', async () => {
    const { node, card, ops, emit } = await asked();
    const deny = card()!.querySelector<HTMLElement>('[data-testid="da-deny"]')!;
    expect(deny.textContent).toBe('Keep here');
    await act(async () => deny.click());
    expect(ops()).toContainEqual(
      expect.objectContaining({
        type: 'approval_decision',
        approvalId: 'approval_1',
        decision: 'deny'
      })
    );
    await emit(
      {
        type: 'approval_resolved',
        approvalId: 'approval_1',
        decision: 'deny'
      },
      {
        type: 'tool_call_output',
        callId: 'call_1',
        name: 'executeCode',
        status: 'ok',
        output: '{"outputs":"Anna, 31"}',
        truncated: false,
        durationMs: 5,
        withheld: ['outputs']
      }
    );
    expect(node.textContent).toContain('Kept from the model by you');
    expect(
      node.querySelector('[data-testid="da-tool-call"]')?.textContent
    ).toContain('kept here');
  });
});
