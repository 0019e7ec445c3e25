import { applyHunks, hunksOf } from '../hunks';

const TEXTS = [
  '',
  'a',
  'a\n',
  'a\nb',
  'a\nb\nc\nd',
  'a\nx\nc\ny',
  'x\na\nb\nc\nd\ne',
  'b\nc\n',
  '\n\na',
  'd\nc\nb\na'
];

describe('hunksOf', () => {
  it('makes any text of any other', () => {
    for (const base of TEXTS) {
      for (const proposed of TEXTS) {
        expect(applyHunks(base, hunksOf(base, proposed))).toBe(proposed);
      }
    }
  });

  it('has one hunk for each run of changed lines', () => {
    const hunks = hunksOf('a\nb\nc\nd', 'A\nb\nc\nD');
    expect(hunks.map(({ added }) => added)).toEqual(['A', 'D']);
  });

  it('removes nothing that may come yet while the proposal grows', () => {
    const base = 'a\nb\nc\nd';
    const proposed = 'a\nB\nc\nD\ne';
    for (let end = 0; end <= proposed.length; end++) {
      const hunks = hunksOf(base, proposed.slice(0, end), false);
      const result = applyHunks(base, hunks);
      // Of the lines behind what has come, none is gone.
      expect(result).toContain(end < 5 ? 'c\nd' : 'd');
    }
  });

  it('does not show the beginning of a line that is there already', () => {
    expect(hunksOf('alpha\nbeta', 'alpha\nbe', false)).toEqual([]);
  });
});
