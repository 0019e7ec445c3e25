import React, { act } from 'react';

import { READY } from '../../__tests__/fakes';
import { ModelSelect, unavailableReason } from '../ModelSelect';
import {
  button,
  clear,
  click,
  doing,
  draw,
  makePanel,
  type
} from '../../__tests__/render';

afterEach(clear);

const model = (name: string, reason?: string) => ({
  id: `p/${name}`,
  label: name,
  provider: 'P',
  ready: !reason,
  reason,
  vision: false
});

async function change(select: HTMLSelectElement | null, value: string) {
  await act(async () => {
    select!.value = value;
    select!.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

async function openList(
  models = READY.models,
  first = READY.default,
  more: Partial<typeof READY> = {}
) {
  const panel = await makePanel();
  panel.client.modelsReply = { ...READY, models, default: first, ...more };
  await panel.model.refreshModels();
  const node = await draw(panel.model, <ModelSelect />);
  await click(node.querySelector('[data-testid="da-model-select"]'));
  const rows = () =>
    [...node.querySelectorAll('.da-popup button')].map(
      ({ textContent }) => textContent
    );
  return { ...panel, node, rows };
}

it('the button names a local model without the memory that it needs', async () => {
  const local = { ...model('qwen'), label: 'qwen (needs 2.1 GB)' };
  const { node } = await openList([local], 'p/qwen');
  const select = node.querySelector('[data-testid="da-model-select"]');
  expect(select?.textContent).toBe('qwen');
  expect(select?.getAttribute('title')).toContain(
    'qwen (needs 2.1 GB)\np/qwen'
  );
});

describe('the list of models', () => {
  it('has the ready ones first, the default before all, and folds the others', async () => {
    const { node, rows } = await openList(
      [
        model('far', 'P has no key: P_KEY is not set.'),
        model('near'),
        model('own')
      ],
      'p/own'
    );
    expect(rows()).toEqual([
      'owndefault',
      'near',
      'Not set up (1)',
      'Connect a Model…'
    ]);
    await click(button(node, 'Not set up (1)'));
    expect(rows()[3]).toBe('farP_KEY is not set');
  });

  it('says under each what it can do and costs, as far as that is known', async () => {
    const { node, rows } = await openList(
      [
        {
          ...model('big'),
          vision: true,
          contextWindow: 1_048_576,
          reasoningEfforts: ['low', 'high'],
          inputPrice: 0.75,
          outputPrice: 10
        },
        { ...model('small'), contextWindow: 8192 },
        { ...model('unknown'), assumedContextWindow: 128_000 }
      ],
      'p/big'
    );
    expect(rows()).toEqual([
      'bigdefault1M context · images · reasoning · $0.75 in, $10 out',
      'small8k context',
      'unknown128k context assumed',
      'Connect a Model…'
    ]);
    const [, , unknown] = node.querySelectorAll('.da-models button');
    expect(unknown.getAttribute('title')).toContain(
      '128,000 tokens are assumed'
    );
  });

  it('neither offers nor sends what an administrator locked', async () => {
    const { node, model: panel } = await openList(
      [{ ...model('big'), reasoningEfforts: ['low', 'high'] }],
      'p/big',
      { lockedChoices: ['reasoning_effort', 'row_data'] }
    );
    const choice = node.querySelector<HTMLSelectElement>(
      '[data-testid="da-reasoning"]'
    )!;
    expect(choice.disabled).toBe(true);
    expect(choice.selectedOptions[0].text).toBe('Set by the administrator');
    // A session remembers these from before: its next change would be refused with them.
    await act(async () =>
      panel.composerState.restore({
        mode: 'edit',
        outputs: 'never',
        rowData: 'ask',
        reasoningEffort: 'high'
      })
    );
    const { settings } = panel.composerState;
    expect(settings).toMatchObject({ mode: 'edit', outputs: 'never' });
    expect(settings.rowData).toBeUndefined();
    expect(settings.reasoningEffort).toBeUndefined();
  });

  it('offers the reasoning effort of a model that has it, and takes a choice back', async () => {
    const { node, model: panel } = await openList(
      [{ ...model('big'), reasoningEfforts: ['low', 'high'] }, model('small')],
      'p/big'
    );
    const choice = () =>
      node.querySelector<HTMLSelectElement>('[data-testid="da-reasoning"]');
    expect([...choice()!.options].map(({ text }) => text)).toEqual([
      'As in settings',
      'Low',
      'High'
    ]);
    await change(choice(), 'high');
    expect(panel.composerState.settings.reasoningEffort).toBe('high');
    await change(choice(), '');
    expect(panel.composerState.settings.reasoningEffort).toBeNull();
    await click(button(node, 'small'));
    await click(node.querySelector('[data-testid="da-model-select"]'));
    expect(choice()).toBeNull();
  });

  it('takes one that is ready, and none that is not', async () => {
    const { node, model: panel, rows } = await openList();
    await click(button(node, 'Not set up (1)'));
    await click(node.querySelector('[aria-disabled="true"]'));
    expect(panel.composerState.current.model).toBeUndefined();
    await click(node.querySelector('.da-popup button'));
    expect(panel.composerState.current.model).toBe('openai/gpt-test');
    expect(rows()).toEqual([]);
  });

  it('has a field to find one where there are many', async () => {
    const many = Array.from({ length: 11 }, (_, i) => model(`model-${i}`));
    const { node, rows } = await openList([...many, model('x', 'no')]);
    await type(node.querySelector('input'), 'model-7');
    expect(rows()).toEqual(['model-7', 'Connect a Model…']);
    await type(node.querySelector('input'), 'nothing');
    expect(node.textContent).toContain('No matching models.');
  });

  it('needs no such field where there are few', async () => {
    const { node } = await openList();
    expect(node.querySelector('input')).toBeNull();
  });

  it('says in few words what a model lacks', () => {
    expect(
      unavailableReason(
        model('x', 'Anthropic has no key: ANTHROPIC_API_KEY is not set.')
      )
    ).toBe('ANTHROPIC_API_KEY is not set');
    expect(unavailableReason(model('x', 'The key of OpenAI is empty.'))).toBe(
      'The key of OpenAI is empty'
    );
  });

  it('is closed where an administrator chose the model, whatever a session remembers', async () => {
    const { client, node, model: panel, rows } = await openList();
    await doing(() => panel.composerState.choose({ model: 'p/other' }));
    client.modelsReply = { ...client.modelsReply, locked: true };
    await doing(() => panel.refreshModels());
    expect(panel.composerState.current.model).toBeUndefined();
    expect(node.textContent).toContain('set by the server administrator');
    expect(rows()).toHaveLength(1);
  });
});
