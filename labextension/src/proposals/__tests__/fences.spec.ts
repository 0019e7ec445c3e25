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
