import { countShort, formatDuration } from '../format';

describe('numbers for people', () => {
  it('are short', () => {
    expect(countShort(950)).toBe('950');
    expect(countShort(1234)).toBe('1.2k');
    expect(countShort(123_456)).toBe('123k');
    expect(countShort(1_200_000)).toBe('1.2M');
    expect(formatDuration(1234)).toBe('1.2 s');
    expect(formatDuration(12_300)).toBe('12 s');
    expect(formatDuration(125_000)).toBe('2 min 5 s');
  });
});
