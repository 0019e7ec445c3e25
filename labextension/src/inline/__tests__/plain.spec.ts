import {
  asksForChange,
  ISubject,
  plainProposal,
  proposalOf,
  whyNot
} from '../plain';
import { fencedBlocks } from '../../proposals';

const BASE = 'def area(r):\n    pi = 3\n    return pi * r\nprint(area(1))';

function subject(more: Partial<ISubject> = {}): ISubject {
  return {
    target: { kind: 'cell', cellId: 'c1' },
    name: 'cell',
    type: 'code',
    language: 'python',
    base: 'x = 1',
    selection: null,
    ...more
  };
}

const fence = (source: string, info = 'python') =>
  `\`\`\`${info}\n${source}\n\`\`\``;

const proposed = (
  answer: string,
  more: Partial<ISubject> = {},
  message = 'Make it ten'
) => plainProposal(answer, message, subject(more))?.source ?? null;

/** What a block makes of a text with `part` of it selected. */
function ofSelection(part: string, source: string, base = BASE): string | null {
  const from = base.indexOf(part);
  return proposed(fence(source), {
    base,
    selection: [from, from + part.length]
  });
}

describe('an answer that is one plain block', () => {
  it.each([
    ['python', 'python'],
    ['py', 'python'],
    ['ipython3', 'python'],
    ['{python}', 'python'],
    ['', 'python'],
    ['r', 'R'],
    ['R', 'R'],
    ['jl', 'julia'],
    ['cpp', 'c++17'],
    ['postgresql', 'sql'],
    ['python', '']
  ])('in %j is a proposal for a cell in %j', (info, language) => {
    expect(proposed(fence('x = 10', info), { language })).toBe('x = 10');
  });

  it.each([
    ['r', 'python'],
    ['python', 'R'],
    ['bash', 'python'],
    ['diff', 'python'],
    ['{r}', 'python']
  ])('in %j is none for a cell in %j', (info, language) => {
    expect(proposed(fence('x = 10', info), { language })).toBeNull();
  });

  it.each([
    ['prose before it', `Here it is.\n\n${fence('x')}`],
    ['prose behind it', `${fence('x')}\n\nThat is all.`],
    ['a second block', `${fence('x')}\n\n${fence('y')}`],
    ['no closing fence', '```python\nx = 10'],
    ['a target of its own', fence('x', 'python cell=c2')],
    ['nothing but prose', 'x = 10'],
    ['lines left out', fence('import math\n# ... rest of the code ...\ny = 2')],
    ['lines left out, in a word', fence('y = 2\n...')],
    ['lines left out, in words', fence('y = 2\n# existing code here')]
  ])('is none with %s', (_, answer) => {
    expect(proposed(answer)).toBeNull();
  });

  it('may have dots that the cell has, or that stand in an empty cell', () => {
    const source = 'def f(x):\n    ...';
    expect(proposed(fence(source), { base: 'def f():\n    ...' })).toBe(source);
    expect(proposed(fence(source), { base: '' })).toBe(source);
  });

  it('is prose in a Markdown cell, and text in a raw one', () => {
    const type = 'markdown' as const;
    expect(proposed(fence('# Cars', 'markdown'), { type })).toBe('# Cars');
    expect(proposed(fence('# Cars', 'md'), { type })).toBe('# Cars');
    expect(proposed(fence('# Cars', ''), { type })).toBe('# Cars');
    expect(proposed(fence('x = 1'), { type })).toBeNull();
    const raw = { type: 'raw' as const };
    expect(proposed(fence('Text', 'text'), raw)).toBe('Text');
    expect(proposed(fence('x = 1'), raw)).toBeNull();
  });

  it('is in the language of a magic, whose line stays', () => {
    const base = '%%sql postgres://\nSELECT 1';
    const more = { base };
    expect(proposed(fence('SELECT 2', 'sql'), more)).toBe(
      '%%sql postgres://\nSELECT 2'
    );
    expect(proposed(fence('%%sql\nSELECT 2', 'sql'), more)).toBe(
      '%%sql\nSELECT 2'
    );
    expect(proposed(fence('%%sql\nSELECT 2', 'python'), more)).toBe(
      '%%sql\nSELECT 2'
    );
    expect(proposed(fence('x = 2', 'python'), more)).toBeNull();
    const script = { base: '%%script bash\nls' };
    expect(proposed(fence('ls -l', 'sh'), script)).toBe('%%script bash\nls -l');
    const timed = { base: '%%time\nx = 1' };
    expect(proposed(fence('%%time\nx = 2'), timed)).toBe('%%time\nx = 2');
    const written = { base: '%%writefile a.R\nx <- 1' };
    expect(proposed(fence('x <- 2', 'r'), written)).toBe(
      '%%writefile a.R\nx <- 2'
    );
  });

  it('is of a file in its language', () => {
    const file = {
      target: { kind: 'file', path: 'a/b.jl' } as const,
      name: 'file',
      language: 'julia'
    };
    expect(proposed(fence('x = 10', 'julia'), file)).toBe('x = 10');
    expect(proposed(fence('x = 10', 'python'), file)).toBeNull();
  });
});

describe('a block for a selection', () => {
  it('replaces only what was selected', () => {
    expect(ofSelection('    pi = 3', '    pi = 3.14')).toBe(
      BASE.replace('pi = 3', 'pi = 3.14')
    );
    expect(ofSelection('3', '3.14')).toBe(BASE.replace('3', '3.14'));
  });

  it('is indented as that was, and ends as that did', () => {
    const lines = '    pi = 3\n    return pi * r\n';
    const changed = BASE.replace(lines, '    if r:\n        return 3 * r\n');
    expect(ofSelection(lines, 'if r:\n    return 3 * r')).toBe(changed);
    // The selection begins behind the indent.
    expect(ofSelection(lines.trim(), 'if r:\n    return 3 * r')).toBe(changed);
  });

  it('is the whole cell where all around the selection is in it', () => {
    const whole = `import math\n${BASE.replace('3', 'math.pi')}`;
    expect(ofSelection('    pi = 3', whole)).toBe(whole);
    expect(ofSelection('3', whole)).toBe(whole);
    expect(ofSelection(BASE, 'x')).toBe('x');
    expect(ofSelection('[1]', 'x = f([2], 3)', 'x = f([1], 3)')).toBe(
      'x = f([2], 3)'
    );
  });
});

it.each([
  'Add a docstring',
  'Ten times',
  'Can you rename x to y?',
  'Could you please make this faster?',
  'Do it with polars',
  'Define a function that returns the mean',
  'Fix the error of this cell.',
  'Add an example to the docstring',
  'Save it to a file',
  'Mach eine Schleife daraus'
])('takes %j for a request to change', message => {
  expect(asksForChange(message)).toBe(true);
});

it.each([
  'explain',
  'Explain this',
  'Can you explain this?',
  'Please explain it',
  'What does this do',
  'how do I read a CSV with pandas',
  'Why is it slow?',
  'Do these lines matter',
  'Is there a faster way?',
  'Faster with polars?',
  'Show me an example of groupby',
  'Give me two short examples',
  'an example of a join',
  'Ein Beispiel für groupby',
  'Erkläre das',
  'Explique ce code',
  '解释一下'
])('takes %j for a question', message => {
  expect(asksForChange(message)).toBe(false);
  const answer = fence('x = 10');
  expect(plainProposal(answer, message, subject())).toBeNull();
});

describe('a block that is applied by its button', () => {
  const [block] = fencedBlocks(`Like this:\n${fence('x = 10')}`);

  it('is for the cell', () => {
    expect(whyNot(block, subject())).toBeNull();
    expect(proposalOf(block, subject())).toMatchObject({
      target: { kind: 'cell', cellId: 'c1' },
      source: 'x = 10',
      isComplete: true
    });
  });

  it('says why it cannot be', () => {
    expect(whyNot(block, subject({ language: 'R' }))).toBe(
      'This block is python, the cell is r.'
    );
    const [half] = fencedBlocks('```python\nx = 1');
    expect(whyNot(half, subject())).toContain('cut off');
  });
});
