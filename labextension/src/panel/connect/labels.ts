import { ConnectionInfo, FoundModel } from '../../api/types';

/** What distinguishes a model of a server: `8.2B · 5.2 GB · reads 40k tokens`. */
export function modelFacts(model: FoundModel): string {
  const { parameters, size, contextWindow, assumedContextWindow, tools } =
    model;
  return [
    parameters,
    size && formatSize(size),
    contextWindow
      ? `${thousands(contextWindow)} tokens`
      : assumedContextWindow &&
        `${thousands(assumedContextWindow)} tokens assumed`,
    tools === false && 'no tool calls'
  ]
    .filter(Boolean)
    .join(' · ');
}

function thousands(count: number): string {
  return `${Math.round(count / 1000)}k`;
}

/** A size in bytes as `5.2 GB`. */
export function formatSize(bytes: number): string {
  const [value, unit] = bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB'];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** Where a key is kept, in few words. */
export function keyLabel(
  source: ConnectionInfo['keySource'],
  variable?: string
): string {
  switch (source) {
    case 'environment':
      return `key from ${variable ?? 'the environment'}`;
    case 'keyring':
      return 'key in the keyring';
    case 'file':
      return 'key in a file';
    case 'memory':
      return 'key until the server stops';
    default:
      return 'no key';
  }
}
