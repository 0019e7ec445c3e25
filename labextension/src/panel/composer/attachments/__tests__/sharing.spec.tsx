import React, { act } from 'react';

import { SharingNow } from '../../../../api/types';
import { EventInput } from '../../../__tests__/fakes';
import { STARTED, call } from '../../../../session/__tests__/events';
import { Conversation } from '../../../conversation/Conversation';
import { SharingChoice, sharingLabel } from '../SharingChoice';
import { clear, draw, makePanel, settle } from '../../../__tests__/render';

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
      '{"status":"ok","outputs":"[output of 8 characters withheld by the user]"}',
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
    expect(sharingLabel({ outputs, rowData })).toBe('outputs: sent');
    expect(sharingLabel({ outputs, rowData: 'ask' })).toBe(
      'data rows: ask first'
    );
    expect(sharingLabel({ outputs, rowData: 'never' })).toBe(
      'data rows: not sent'
    );
    expect(sharingLabel({ outputs: 'ask', rowData })).toBe(
      'outputs: ask first'
    );
    expect(sharingLabel({ outputs: 'never', rowData })).toBe(
      'outputs: not sent'
    );
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
    expect(button.textContent).toBe('outputs: not sent');
  });

  it('is what the server says where nothing was chosen', async () => {
    const { button } = await opened({ ...ALL, rowData: 'never' });
    expect(button.textContent).toBe('data rows: not sent');
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
    await act(async () => model.composerState.choose({ outputs: 'always' }));
    expect(button.textContent).toBe('outputs: not sent');
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
    expect(card()?.textContent).toContain('1 picture is included');
    expect(card()?.textContent).toContain('has run');
    // The call is above it: it did something, whatever is answered.
    expect(node.querySelector('[data-testid="da-tool-call"]')).not.toBeNull();
  });

  it('is answered with words of its own', async () => {
    const { node, card, ops, emit } = await asked();
    const deny = card()!.querySelector<HTMLElement>('[data-testid="da-deny"]')!;
    expect(deny.textContent).toBe("Don't send");
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
    expect(node.textContent).toContain('You declined to send it');
    expect(
      node.querySelector('[data-testid="da-tool-call"]')?.textContent
    ).toContain('not sent');
  });
});
