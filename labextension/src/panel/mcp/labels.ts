import { McpServerInfo, McpTool, McpTrust } from '../../api/types';

/** What a user may decide of a tool. */
export const TRUST: readonly (readonly [McpTrust, string])[] = [
  ['ask', 'Ask first'],
  ['call', 'Trusted'],
  ['read', 'Only reads']
];

/** What a server does now: `running · 4 tools`. */
export function stateLabel(server: McpServerInfo): string {
  const { enabled, state, tools } = server;
  const states = {
    running: 'running',
    starting: 'starting',
    failed: 'failed',
    stopped: 'not running'
  };
  return [
    enabled ? states[state] : 'off',
    tools ? count(tools.length, 'tool') : ''
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What is shown of a server's tools while they are folded. */
export function toolsLabel(tools: readonly McpTool[]): string {
  const trusted = tools.filter(({ trust }) => trust !== 'ask').length;
  const off = tools.filter(({ enabled }) => !enabled).length;
  const changed = tools.filter(({ hasChanged }) => hasChanged).length;
  return [
    count(tools.length, 'tool'),
    trusted && `${trusted} trusted`,
    off && `${off} off`,
    changed && `${changed} changed`
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What would be started, or where a server is. */
export function placeLabel(server: {
  command?: string | null;
  args?: readonly string[];
  url?: string | null;
}): string {
  return server.url ?? [server.command, ...(server.args ?? [])].join(' ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
