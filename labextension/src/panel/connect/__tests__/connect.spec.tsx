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

async function choose(select: Element | null, value: string): Promise<void> {
  await doing(() => {
    (select as HTMLSelectElement).value = value;
    select!.dispatchEvent(new Event('change', { bubbles: true }));
  });
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

  it.each(['file', 'memory'])(
    'is kept in a place that the user chose: %s',
    async place => {
      const { client, at } = await openCard();
      await type(at('key'), KEY);
      expect(at('use')?.disabled).toBe(true);
      expect(at('test')?.disabled).toBe(false);
      await choose(at('place'), place);
      await click(at('use'));
      expect(client.connecting[2]).toMatchObject({
        connect: { storeIn: place, consent: place === 'file' }
      });
    }
  );

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
    await choose(at('provider'), 'openai');
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

const field = (name: string, label: string, isSecret = false) => ({
  name,
  label,
  isSecret,
  isRequired: true,
  example: ''
});
const AZURE = {
  id: 'azure',
  label: 'Azure OpenAI',
  models: [],
  modelLabel: 'Deployment',
  modelExample: 'my-deployment',
  fields: [field('api_base', 'Endpoint'), field('api_version', 'API version')],
  signIns: [
    { id: 'key', label: 'API key', fields: [field('api_key', 'Key', true)] },
    {
      id: 'token',
      label: 'Microsoft Entra token',
      fields: [field('bearer_token', 'Access token', true)]
    }
  ]
};

it('a provider with a form sends its fields, and the secrets are then gone', async () => {
  const { client, at, model, node } = await openCard('Keychain');
  client.connectionsReply = {
    ...NOTHING_CONNECTED,
    keyring: 'Keychain',
    providers: [...NOTHING_CONNECTED.providers, AZURE]
  };
  await doing(() => void model.toolsPanel.connect.open());
  await choose(at('provider'), 'azure');
  expect(at('use')?.disabled).toBe(true);
  await type(at('provider-model'), 'mine');
  await type(at('field-api_base'), 'https://me.openai.azure.com');
  await type(at('field-api_key'), 'sk-of-the-other-way');
  await choose(at('sign-in'), 'token');
  await type(at('field-bearer_token'), KEY);
  client.modelsReply = READY;
  await click(at('use'));
  const target = {
    provider: 'azure',
    model: 'mine',
    signIn: 'token',
    values: { api_base: 'https://me.openai.azure.com', bearer_token: KEY }
  };
  expect(client.connecting.slice(-2)).toEqual([
    { test: target },
    { connect: { ...target, storeIn: 'keyring', consent: false } }
  ]);
  expect(at('field-bearer_token')?.value).toBe('');
  expect(node.innerHTML).not.toContain(KEY);
});

it('headers and a certificate go along with an address; saved ones stay unless changed', async () => {
  const { client, at, model, node } = await openCard('Keychain');
  const saved = {
    id: 'h:1',
    label: 'vLLM at h:1',
    address: 'https://h:1/v1',
    headers: ['X-Team', 'X-Old'],
    models: [],
    isDefault: false,
    needsKey: true
  };
  client.connectionsReply = {
    ...NOTHING_CONNECTED,
    keyring: 'Keychain',
    connections: [saved]
  };
  await doing(() => void model.toolsPanel.connect.open());
  expect(at('connection')?.textContent).toContain('enter its key again');
  await type(at('address'), 'https://new:1/v1');
  expect(at('header-name')).toBeNull();
  await click(at('header-add'));
  await type(at('header-name'), 'X-Api-Key');
  await type(at('header-value'), KEY);
  await type(at('certificate'), '/c.pem');
  await click(at('find'));
  expect(client.connecting.at(-1)).toEqual({
    test: {
      address: 'https://new:1/v1',
      key: undefined,
      headers: { 'X-Api-Key': KEY },
      certificate: '/c.pem',
      certificateKey: ''
    }
  });
  expect(node.innerHTML).not.toContain(KEY);
  await type(at('address'), 'https://h:1/v1');
  await click(node.querySelector('[aria-label="Remove header 2"]'));
  await click(at('find'));
  expect(client.connecting.at(-1)).toEqual({
    test: {
      address: 'https://h:1/v1',
      key: undefined,
      headers: { 'X-Team': null }
    }
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
        needsKey: false,
        headers: [],
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
