import { UsageRow } from '../../../api/types';

/** A row of usage in which nothing was used but what is given. */
export function usageRow(key: string, given: Partial<UsageRow> = {}): UsageRow {
  return {
    key,
    inputTokens: 0,
    outputTokens: 0,
    cachedTokens: 0,
    totalTokens: 0,
    modelCalls: 0,
    pricedCalls: 0,
    turns: 0,
    durationMs: 0,
    toolCalls: 0,
    toolErrors: 0,
    ...given
  };
}
