import { Usage } from '../../../api/types';
import { formatCost, formatSessionUsage, usageParts } from '../usageLabels';

const USAGE: Usage = {
  inputTokens: 3120,
  outputTokens: 85,
  cachedTokens: 0,
  totalTokens: 3205,
  sessionTokens: 0,
  estimated: false
};

describe('the words for what was used', () => {
  it('tell what a turn took', () => {
    expect(usageParts(USAGE, 3400)).toEqual([
      '3.1k tokens in',
      '85 out',
      '3.4 s'
    ]);
    expect(usageParts(undefined, undefined)).toEqual([]);
  });

  it('tell what came from a cache, what it cost, and what is an estimate', () => {
    const usage = {
      ...USAGE,
      cachedTokens: 2048,
      cost: 0.0123,
      estimated: true
    };
    expect(usageParts(usage)).toEqual([
      '≈ 3.1k tokens in (2k cached)',
      '85 out',
      '$0.012'
    ]);
  });

  it('tell of a session what is known', () => {
    expect(formatSessionUsage(USAGE)).toBe('');
    expect(formatSessionUsage({ ...USAGE, sessionTokens: 12_400 })).toBe(
      'This session so far: 12.4k tokens'
    );
    expect(
      formatSessionUsage({ ...USAGE, sessionTokens: 950, sessionCost: 1.5 })
    ).toBe('This session so far: 950 tokens · $1.50');
    expect(formatCost(0.0004)).toBe('below $0.001');
  });
});
