import {
  IBlocks,
  NO_BLOCKS,
  MOST_MARKDOWN,
  allBlocks,
  beginning,
  growBlocks,
  openFence,
  tailOf
} from '../markdownBlocks';

const TEXT = `# Title

A paragraph
of two lines.

- one

- two
  with more

\`\`\`python
a = 1

b = 2
\`\`\`
After the code.

$$
x

y
$$

<details>

inside

</details>

The end.`;

/** The blocks when the text comes in pieces of `size`. */
function streamed(text: string, size: number): IBlocks {
  let blocks = NO_BLOCKS;
  for (let end = size; end < text.length + size; end += size) {
    blocks = growBlocks(blocks, text.slice(0, end));
  }
  return blocks;
}

describe('the blocks of a Markdown text', () => {
  it('are its paragraphs, lists, fences, formulas and HTML', () => {
    const blocks = allBlocks(TEXT).map(block => block.trim());
    expect(blocks).toEqual([
      '# Title',
      'A paragraph\nof two lines.',
      '- one\n\n- two\n  with more',
      '```python\na = 1\n\nb = 2\n```',
      'After the code.',
      '$$\nx\n\ny\n$$',
      '<details>\n\ninside\n\n</details>',
      'The end.'
    ]);
  });

  it('lose nothing of the text', () => {
    expect(allBlocks(TEXT).join('')).toBe(TEXT);
  });

  it.each([1, 2, 3, 7, 50])('are the same in pieces of %d', size => {
    const blocks = streamed(TEXT, size);
    expect([...blocks.done, tailOf(blocks)]).toEqual(allBlocks(TEXT));
  });

  it('never change once they are finished', () => {
    let blocks = NO_BLOCKS;
    for (let end = 1; end <= TEXT.length; end++) {
      const next = growBlocks(blocks, TEXT.slice(0, end));
      expect(next.done.slice(0, blocks.done.length)).toEqual(blocks.done);
      blocks = next;
    }
  });

  it('cost no more when there is much text before what grows', () => {
    const long = growBlocks(NO_BLOCKS, `${'A paragraph.\n\n'.repeat(5000)}x`);
    expect(long.done).toHaveLength(5000);
    const grown = growBlocks(long, `${long.text}more`);
    expect(grown.done).toBe(long.done);
    expect(tailOf(grown)).toBe('xmore');
  });

  it('are one where the text defines references', () => {
    const text = 'See [it][1].\n\nMore.\n\n[1]: https://example.com\n';
    expect(allBlocks(text)).toEqual([text]);
  });

  it('keep a fence in a list with its list', () => {
    const text = '1. First:\n   ```py\n   a\n\n   b\n   ```\n2. Second';
    expect(allBlocks(text)).toEqual([text]);
  });

  it('begin anew where the text is another one', () => {
    const blocks = growBlocks(NO_BLOCKS, 'One.\n\nTwo.');
    expect(growBlocks(blocks, 'Other.\n\nText.').done).toEqual(['Other.\n\n']);
  });
});

describe('a fence that is still open', () => {
  it('has the code so far', () => {
    expect(openFence('```python\na = 1\nb')).toEqual({
      language: 'python',
      code: 'a = 1\nb'
    });
  });

  it('is none when it is closed, or no fence', () => {
    expect(openFence('```python\na = 1\n```')).toBeNull();
    expect(openFence('some text')).toBeNull();
  });

  it('is not closed by fewer or other marks', () => {
    expect(openFence('````md\n```\ninner\n```\n')).not.toBeNull();
    expect(openFence('~~~\n```\n')).not.toBeNull();
  });
});

describe('beginning', () => {
  it('is all of a text that is not long', () => {
    expect(beginning('a\nb')).toBe('a\nb');
  });

  it('is the first lines of a long one, or of one line its first characters', () => {
    const line = `${'a'.repeat(99)}\n`;
    expect(beginning(line.repeat(1000))).toBe(
      line.repeat(MOST_MARKDOWN / line.length)
    );
    expect(beginning('['.repeat(1_000_000))).toBe('['.repeat(MOST_MARKDOWN));
  });
});
