import { parseAnswer } from '..';

const WHOLE = [
  'Shorter so.',
  '',
  '```python cell=one',
  'a = 1',
  'b = 2',
  '```',
  '',
  '````markdown after=one',
  '# Then',
  '```',
  'code',
  '```',
  '````',
  'And the file:',
  '```r file="my code.R"',
  'x <- 1',
  '```',
  'Done.'
].join('\n');

describe('parseAnswer', () => {
  it('takes tagged blocks out of the words', () => {
    const { prose, proposals } = parseAnswer(WHOLE, true);
    expect(prose).toBe('Shorter so.\n\n\nAnd the file:\nDone.');
    expect(proposals).toEqual([
      {
        target: { kind: 'cell', cellId: 'one' },
        language: 'python',
        source: 'a = 1\nb = 2',
        isComplete: true
      },
      {
        target: { kind: 'after', cellId: 'one' },
        language: 'markdown',
        source: '# Then\n```\ncode\n```',
        isComplete: true
      },
      {
        target: { kind: 'file', path: 'my code.R' },
        language: 'r',
        source: 'x <- 1',
        isComplete: true
      }
    ]);
  });

  it('says the same of any beginning, and never shows a part of a fence', () => {
    const whole = parseAnswer(WHOLE, true);
    for (let end = 0; end <= WHOLE.length; end++) {
      const { prose, proposals } = parseAnswer(WHOLE.slice(0, end));
      expect(prose).not.toMatch(/`|cell=|after=|file=/);
      proposals.forEach((proposal, index) => {
        const { target, source } = whole.proposals[index];
        expect(proposal.target).toEqual(target);
        expect(source.startsWith(proposal.source)).toBe(true);
      });
    }
  });

  it('leaves untagged blocks in the words', () => {
    const text = 'So:\n\n```python\nx = {"cell": 1}\n```';
    expect(parseAnswer(text, true)).toEqual({ prose: text, proposals: [] });
  });

  it('keeps the newest proposal for a cell, and every new cell', () => {
    const block = (info: string, code: string) =>
      `\`\`\`${info}\n${code}\n\`\`\`\n`;
    const { proposals } = parseAnswer(
      block('python cell=a', '1') +
        block('python after=a', '2') +
        block('python after=a', '3') +
        block('python cell=a', '4'),
      true
    );
    expect(proposals.map(({ source }) => source)).toEqual(['2', '3', '4']);
  });

  it('reports that a block was not ended', () => {
    const [proposal] = parseAnswer(
      '```python cell=a\nx = 1\ny',
      true
    ).proposals;
    expect(proposal).toMatchObject({ isComplete: false, source: 'x = 1\ny' });
  });

  it.each(['python cell="a"', 'python {cell=a}', 'python cell: a', 'cell=a'])(
    'reads the info string %s',
    info => {
      const [proposal] = parseAnswer(
        `\`\`\`${info}\n1\n\`\`\``,
        true
      ).proposals;
      expect(proposal.target).toEqual({ kind: 'cell', cellId: 'a' });
    }
  );
});
