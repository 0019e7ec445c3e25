import React from 'react';

import { Readiness } from '../../conversation/Readiness';
import { ToolsPanelCard } from '../../toolsPanel/ToolsPanelCard';
import { NOTHING_CONNECTED, READY } from '../../__tests__/fakes';
import {
  button,
  clear,
  click,
  doing,
  draw,
  makePanel,
  type
} from '../../__tests__/render';
import { formatSize, modelFacts } from '../labels';

afterEach(clear);

const KEY = 'sk-typed-0123456789';
const NONE = { ...READY, models: [], default: undefined, ready: false };
const OLLAMA = {
  label: 'Ollama',
  address: 'http://127.0.0.1:11434',
  needsKey: false,
  models: [{ name: 'qwen3:8b', size: 5_225_388_164, parameters: '8.2B' }]
};

async function openCard(keyring?: string) {
  const panel = await makePanel();
  panel.client.modelsReply = NONE;
  panel.client.connectionsReply = { ...NOTHING_CONNECTED, keyring };
  await panel.model.refreshModels();
  const node = await draw(panel.model, <ToolsPanelCard />);
  await doing(() => panel.model.toolsPanel.showConnect());
  const at = (name: string) =>
    node.querySelector<HTMLInputElement>(`[data-testid="da-connect-${name}"]`);
  return { ...panel, node, at };
}

describe('a key', () => {
  it('is tried and saved, and then is in the page no more', async () => {
    const { client, node, at, model } = await openCard('Keychain');
    expect(at('place')?.textContent).toContain('Keychain');
    expect(at('use')?.disabled).toBe(true);
    await type(at('key'), KEY);
    client.modelsReply = READY;
    await click(at('use'));
    const target = {
      provider: 'anthropic',
      model: 'anthropic/claude-test',
      key: KEY
    };
    expect(client.connecting.slice(1)).toEqual([
      { test: target },
      { connect: { ...target, storeIn: 'keyring', consent: false } }
    ]);
    expect(at('key')?.value).toBe('');
    expect(node.innerHTML).not.toContain(KEY);
    expect(
      JSON.stringify(model.toolsPanel.connect.shown.current)
    ).not.toContain(KEY);
    expect(at('done')?.textContent).toContain('GPT Test is connected.');
  });

  it('that is refused is not saved, and stays to be corrected', async () => {
    const { client, at } = await openCard('Keychain');
    client.testReply = { ok: false, message: 'Anthropic refused the key.' };
    await type(at('key'), KEY);
    await click(at('use'));
    expect(at('result')?.textContent).toBe('Anthropic refused the key.');
    expect(client.connecting).toHaveLength(2);
    expect(at('key')?.value).toBe(KEY);
  });

  it('goes into a file only after consent', async () => {
    const { client, at } = await openCard();
    await type(at('key'), KEY);
    expect(at('use')?.disabled).toBe(true);
    expect(at('test')?.disabled).toBe(false);
    await click(at('consent'));
    await click(at('use'));
    expect(client.connecting[2]).toMatchObject({
      connect: { storeIn: 'file', consent: true }
    });
  });

  it('that was typed for one provider is not sent to another', async () => {
    const { client, at, model } = await openCard('Keychain');
    const [anthropic] = NOTHING_CONNECTED.providers;
    client.connectionsReply = {
      ...NOTHING_CONNECTED,
      keyring: 'Keychain',
      providers: [anthropic, { ...anthropic, id: 'openai', label: 'OpenAI' }]
    };
    await doing(() => void model.toolsPanel.connect.open());
    await type(at('key'), KEY);
    const select = at('provider') as unknown as HTMLSelectElement;
    await doing(() => {
      select.value = 'openai';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    expect(at('key')?.value).toBe('');
    expect(at('use')?.disabled).toBe(true);
  });
});

describe('servers of this computer', () => {
  it('are looked for once by the start page without a model, and again when asked', async () => {
    const { client, model } = await makePanel();
    client.modelsReply = NONE;
    client.lookReply = { looked: true, servers: [OLLAMA] };
    await model.refreshModels();
    const node = await draw(model, <Readiness />);
    expect(node.textContent).toContain('qwen3:8b8.2B · 5.2 GB');
    await doing(() => void model.refreshModels());
    expect(client.connecting).toEqual([{ look: false }]);
    // One button that looks, not two.
    expect(button(node, 'Check again')).toBeUndefined();
    await click(button(node, 'Look again'));
    expect(client.connecting).toEqual([{ look: false }, { look: true }]);
    client.modelsReply = READY;
    await click(node.querySelector('[data-testid="da-connect-model"]'));
    expect(client.connecting[2]).toEqual({
      connect: { address: OLLAMA.address, model: 'qwen3:8b' }
    });
    expect(node.textContent).toBe('');
  });

  it('are not looked for with a model, nor under a conversation', async () => {
    const { client, model } = await makePanel();
    await model.refreshModels();
    await draw(model, <Readiness />);
    clear();
    client.modelsReply = NONE;
    await draw(model, <Readiness isFolded />);
    await doing(() => void model.refreshModels());
    expect(client.connecting).toEqual([]);
  });
});

it('what is connected can be forgotten', async () => {
  const { client, at, model } = await openCard();
  client.connectionsReply = {
    ...NOTHING_CONNECTED,
    connections: [
      {
        id: 'openai',
        label: 'OpenAI',
        keySource: 'file',
        models: [],
        isDefault: true
      }
    ]
  };
  await doing(() => void model.toolsPanel.connect.open());
  expect(at('connection')?.textContent).toContain(
    'OpenAI · key in a file · default'
  );
  client.connectionsReply = NOTHING_CONNECTED;
  await click(at('forget'));
  expect(client.connecting.slice(-1)).toEqual([{ forget: 'openai' }]);
  expect(at('connection')).toBeNull();
});

it('a lock of the administrator is said, and nothing is offered', async () => {
  const { client, model, at } = await openCard();
  client.connectionsReply = { ...NOTHING_CONNECTED, locked: 'Switched off.' };
  await doing(() => void model.toolsPanel.connect.open());
  expect(at('locked')?.textContent).toBe('Switched off.');
  expect(at('key')).toBeNull();
});

it('the facts of a model are those that are known', () => {
  expect(modelFacts({ name: 'x' })).toBe('');
  expect(modelFacts({ name: 'x', contextWindow: 8192, tools: false })).toBe(
    '8k tokens · no tool calls'
  );
  expect(modelFacts({ name: 'x', assumedContextWindow: 128_000 })).toBe(
    '128k tokens assumed'
  );
  expect([380e6, 1.1e9, 42e9].map(formatSize)).toEqual([
    '380 MB',
    '1.1 GB',
    '42 GB'
  ]);
});
