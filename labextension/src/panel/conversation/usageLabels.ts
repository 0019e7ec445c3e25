import { Usage } from '../../api/types';
import { countShort, formatDuration } from '../../ui/format';

/** "1.2k tokens in (900 cached)", "85 out", "$0.004", "3.4 s": as far as it is known. */
export function usageParts(usage?: Usage, durationMs?: number): string[] {
  const parts: string[] = [];
  if (usage && usage.totalTokens > 0) {
    const about = usage.estimated ? '≈ ' : '';
    const cached =
      usage.cachedTokens > 0
        ? ` (${countShort(usage.cachedTokens)} cached)`
        : '';
    parts.push(`${about}${countShort(usage.inputTokens)} tokens in${cached}`);
    parts.push(`${countShort(usage.outputTokens)} out`);
  }
  if (usage?.cost !== undefined && usage.cost > 0) {
    parts.push(formatCost(usage.cost));
  }
  if (durationMs !== undefined) {
    parts.push(formatDuration(durationMs));
  }
  return parts;
}

/** "This session so far: 12.4k tokens · $0.12"; empty where nothing is known. */
export function formatSessionUsage(usage: Usage): string {
  if (!usage.sessionTokens) {
    return '';
  }
  const cost = usage.sessionCost ? ` · ${formatCost(usage.sessionCost)}` : '';
  return `This session so far: ${countShort(usage.sessionTokens)} tokens${cost}`;
}

/** "$1.20", "$0.034", "below $0.001". */
export function formatCost(dollars: number): string {
  if (dollars < 0.001) {
    return 'below $0.001';
  }
  return `$${dollars.toFixed(dollars < 0.1 ? 3 : 2)}`;
}
