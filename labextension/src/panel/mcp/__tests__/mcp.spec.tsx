import React from 'react';

import { McpServerInfo } from '../../../api/types';
import { ToolsPanelCard } from '../../toolsPanel/ToolsPanelCard';
import {
  clear,
  click,
  doing,
  draw,
  makePanel,
  type
} from '../../__tests__/render';
import { NO_SERVERS } from './fakeMcp';

afterEach(clear);

/** Choose an option of a list. */
async function choose(list: HTMLSelectElement, value: string): Promise<void> {
  await doing(() => {
    list.value = value;
    list.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

const TOOL = {
  name: 'echo',
  title: 'Echo',
  description: 'Returns the text.',
  enabled: true,
  trust: 'ask',
  hasChanged: false,
  saysItReads: true
} as const;
const SERVER: McpServerInfo = {
  name: 'fix',
  source: 'user',
  file: '/mcp.json',
  command: 'node',
  args: ['/my files/a.js'],
  env: ['TOKEN'],
  headers: [],
  enabled: true,
  state: 'running',
  tools: [TOOL, { ...TOOL, name: 'other', title: 'Other', trust: 'call' }]
};

async function openCard(servers: McpServerInfo[] = []) {
  const panel = await makePanel();
  const { mcp } = panel.client;
  mcp.reply = { ...NO_SERVERS, servers };
  const node = await draw(panel.model, <ToolsPanelCard />);
  await doing(() => panel.model.toolsPanel.showMcp());
  const at = (name: string) =>
    node.querySelector<HTMLInputElement>(`[data-testid="da-mcp-${name}"]`);
  return { ...panel, mcp, node, at };
}

describe('MCP servers', () => {
  it('are added by a form, whose values the page does not keep', async () => {
    const { mcp, node, at, model } = await openCard();
    await click(at('add'));
    await type(at('name'), 'time');
    await type(at('place'), 'uvx "mcp server" -x');
    await click(at('pair-add'));
    await type(at('pair-name'), 'KEY');
    await type(at('pair-value'), 'hush-1234');
    await click(at('test'));
    expect(at('result')?.textContent).toBe('Works: 2 tools');
    await click(at('save'));
    const body = {
      command: 'uvx',
      args: ['mcp server', '-x'],
      env: { KEY: 'hush-1234' }
    };
    expect(mcp.asked.slice(1)).toMatchObject([
      { test: { name: 'time', ...body } },
      { save: 'time', body }
    ]);
    expect(at('form')).toBeNull();
    expect(node.innerHTML).not.toContain('hush-1234');
    expect(JSON.stringify(model.toolsPanel.mcp.shown.current)).not.toContain(
      'hush-1234'
    );
  });

  it('keep the values that are not typed anew when they are edited', async () => {
    const { mcp, at } = await openCard([SERVER]);
    await click(at('edit'));
    expect(at('place')?.value).toBe('node "/my files/a.js"');
    expect(at('pair-value')?.value).toBe('');
    await click(at('save'));
    expect(mcp.asked[1]).toMatchObject({
      save: 'fix',
      body: { command: 'node', args: ['/my files/a.js'], env: { TOKEN: null } }
    });
  });

  it('are trusted by tool or as a whole, switched off, started and removed', async () => {
    const { mcp, node, at } = await openCard([SERVER]);
    const trusts = node.querySelectorAll<HTMLSelectElement>(
      '[data-testid="da-mcp-trust"]'
    );
    expect([...trusts].map(({ value }) => value)).toEqual(['', 'ask', 'call']);
    await choose(trusts[1], 'call');
    await choose(trusts[0], 'read');
    await click(at('tool-enabled'));
    await click(at('enabled'));
    await click(at('stop'));
    await click(at('remove'));
    expect(at('remove')?.textContent).toBe('Remove it');
    await click(at('remove'));
    await click(at('log'));
    expect(at('lines')?.textContent).toBe('12:00:00 Connected');
    expect(mcp.asked.slice(1)).toEqual([
      { change: 'fix', body: { tools: { echo: { trust: 'call' } } } },
      { change: 'fix', body: { trust: 'read' } },
      { change: 'fix', body: { tools: { echo: { enabled: false } } } },
      { change: 'fix', body: { enabled: false } },
      { stop: 'fix' },
      { remove: 'fix' },
      { log: 'fix' }
    ]);
  });

  it('of the folder are allowed as they were shown', async () => {
    const { mcp, model, at } = await openCard();
    mcp.reply = {
      ...NO_SERVERS,
      problems: ['/mcp.json, line 2: This is not valid JSON.'],
      folder: {
        path: '/work/mcp.json',
        contentHash: 'abc',
        servers: [
          {
            name: 'a',
            command: 'rm',
            args: ['-rf'],
            sets: ['A'],
            reads: ['OPENAI_API_KEY']
          }
        ],
        allowed: false,
        hasChanged: true
      }
    };
    await doing(() => model.toolsPanel.mcp.refresh());
    expect(at('folder')?.textContent).toContain('has changed');
    expect(at('folder')?.textContent).toContain('rm -rf');
    expect(at('reads')?.textContent).toContain('OPENAI_API_KEY');
    await click(at('allow'));
    expect(mcp.asked[2]).toEqual({
      folder: { contentHash: 'abc', allowed: true }
    });
  });

  it('may be switched off by the administrator', async () => {
    const { mcp, model, node, at } = await openCard();
    mcp.reply = { ...NO_SERVERS, locked: 'Switched off.' };
    await doing(() => model.toolsPanel.mcp.refresh());
    expect(at('locked')?.textContent).toBe('Switched off.');
    expect(node.querySelector('button.da-button')).toBeNull();
  });

  it('ask to sign in, in a tab that the click opens, and in a file after consent', async () => {
    const remote: McpServerInfo = {
      ...SERVER,
      command: undefined,
      url: 'https://host/mcp',
      state: 'failed',
      signIn: 'needed',
      problem: 'Sign-in required (401).'
    };
    const { mcp, at, node } = await openCard([remote]);
    const replace = jest.fn();
    const close = jest.fn();
    const tab = { opener: window, location: { replace }, close };
    const open = jest
      .spyOn(window, 'open')
      .mockReturnValue(tab as unknown as Window);
    mcp.signInReply = { file: '/data/keys', keyringProblem: 'No keyring.' };
    await click(at('sign-in-begin'));
    expect(close).toHaveBeenCalled();
    expect(node.textContent).toContain('No keyring.');
    mcp.signInReply = { address: 'https://auth/authorize?state=1' };
    mcp.reply = { ...NO_SERVERS, servers: [{ ...remote, signIn: 'waiting' }] };
    await click(at('sign-in-begin'));
    expect(replace).toHaveBeenCalledWith('https://auth/authorize?state=1');
    expect(tab.opener).toBeNull();
    expect(mcp.asked).toContainEqual({
      signIn: 'fix',
      body: { origin: 'http://localhost', keepInFile: true }
    });
    expect(node.querySelector('a')?.rel).toBe('noopener noreferrer');
    expect(at('problem')).toBeNull();
    mcp.reply = { ...NO_SERVERS, servers: [{ ...remote, signIn: 'done' }] };
    await click(at('sign-in-cancel'));
    expect(at('sign-in')).toBeNull();
    await click(at('sign-out'));
    expect(mcp.asked.at(-1)).toEqual({ signOut: 'fix' });
    open.mockRestore();
  });
});
