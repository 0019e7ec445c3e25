import { diffLines } from '../lines';

const signs = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) =>
    kind === 'gap' ? '…' : { same: ' ', removed: '-', added: '+' }[kind] + text
  );

describe('a diff', () => {
  it('shows the changed line with the lines around it', () => {
    expect(signs('a\nb\nc\nd\ne\nf', 'a\nb\nc\nD\ne\nf')).toEqual([
      '…',
      ' b',
      ' c',
      '-d',
      '+D',
      ' e',
      ' f'
    ]);
  });

  it('is all new for a new cell and all gone for a removed one', () => {
    expect(signs('', 'a\nb')).toEqual(['+a', '+b']);
    expect(signs('a\nb', '')).toEqual(['-a', '-b']);
  });

  it('finds lines that stayed between changes', () => {
    expect(signs('x\nkeep\ny', 'X\nkeep\nY')).toEqual([
      '-x',
      '+X',
      ' keep',
      '-y',
      '+Y'
    ]);
  });

  it('shows very long sources whole instead of comparing for ever', () => {
    const lines = (mark: string) =>
      Array.from({ length: 3000 }, (_, i) => mark + i).join('\n');
    expect(signs(lines('a'), lines('b'))).toHaveLength(6000);
  });
});
