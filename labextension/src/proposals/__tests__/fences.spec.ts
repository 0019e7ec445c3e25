import { fencedBlocks, withoutTags } from '..';

const TEXT = [
  'See `cell=a`:',
  '```python cell=a',
  'x = """',
  '~~~ cell=b',
  '```',
  '  ~~~md after="c d"',
  '  # Title',
  '    ```python cell=e',
  '  ~~~',
  '```',
  'plain'
].join('\n');

it('finds the blocks of a text, with what they are for', () => {
  expect(fencedBlocks(TEXT)).toEqual([
    {
      language: 'python',
      target: { kind: 'cell', cellId: 'a' },
      source: 'x = """\n~~~ cell=b',
      isComplete: true
    },
    {
      language: 'md',
      target: { kind: 'after', cellId: 'c d' },
      source: '# Title\n  ```python cell=e',
      isComplete: true
    },
    { language: '', target: null, source: 'plain', isComplete: false }
  ]);
});

it('takes the tags of blocks away, and nothing else', () => {
  expect(withoutTags(TEXT)).toBe(
    TEXT.replace('```python cell=a', '```python').replace(
      '~~~md after="c d"',
      '~~~md'
    )
  );
});

const sourceIn = (...lines: string[]): string =>
  fencedBlocks(lines.join('\n'))[0].source;

it('takes the code alone out of what models repeat of its fence', () => {
  expect(sourceIn('```python cell=a', '```python', 'x = 1', '```', '```')).toBe(
    'x = 1'
  );
  expect(sourceIn('````r', '```', 'x <- 1', '```', '````')).toBe('x <- 1');
  expect(sourceIn('```', 'python', 'x = 1', '```')).toBe('x = 1');
  expect(sourceIn('```python after=a', 'Python', '%%time', '```')).toBe(
    '%%time'
  );
});

it('leaves code that begins alike, and Markdown, as it is', () => {
  expect(sourceIn('```python', 'python = 3', 'python', '```')).toBe(
    'python = 3\npython'
  );
  expect(sourceIn('```python', 'python', '# what it is', '```')).toBe(
    'python\n# what it is'
  );
  expect(sourceIn('```bash', 'python', 'ls', '```')).toBe('python\nls');
  expect(sourceIn('````md cell=a', '```python', 'x', '```', '````')).toBe(
    '```python\nx\n```'
  );
  expect(sourceIn('````', '```python', 'x', '```', '````')).toBe(
    '```python\nx\n```'
  );
  expect(sourceIn('```python', '%%markdown', '~~~', 'x', '~~~', '```')).toBe(
    '%%markdown\n~~~\nx\n~~~'
  );
});
