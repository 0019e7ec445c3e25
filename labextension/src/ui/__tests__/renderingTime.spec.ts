import { marked } from 'marked';

import { MOST_MARKDOWN, beginning, isSimple } from '../markdownBlocks';

/**
 * Milliseconds of computing for all that is drawn of a text, in the better of
 * two tries: the first one also compiles, and other programs slow a core down.
 */
const LIMIT = 1000;

const RUNS = [
  ...['*a ', '**a', '***a ', '_a ', '__a\n', '~~a ', 'a**b', '*_'],
  ...['a_b ', 'a_', 'é_é', '_a a_b ', '*a_b '],
  ...['[', '![', '[a](', '[[a](b) ', '[a]: b\n', '<', '<a href="', '<!--'],
  ...['- ', '+ - ', '1. ', '>', '> 1. ', '- *a\n', '|*a\n|-|\n', '`a ``', '\\']
];

/** The blocks of one length that fill what is drawn of a text: as long as one may be. */
function drawn(run: string): string[] {
  const long = beginning(run.repeat(MOST_MARKDOWN));
  let fits = 0;
  for (let step = MOST_MARKDOWN; step >= 1; step = Math.floor(step / 2)) {
    fits += isSimple(long.slice(0, fits + step)) ? step : 0;
  }
  const length = Math.min(fits, long.length);
  const blocks = Array<string>(Math.floor(long.length / length));
  return blocks.fill(long.slice(0, length));
}

it.each(RUNS)('what is drawn of %j repeated takes no time', async run => {
  const blocks = drawn(run);
  let best = Infinity;
  for (let tries = 0; tries < 2 && best >= LIMIT; tries++) {
    const before = process.cpuUsage();
    blocks.forEach(block => marked.parse(block, { gfm: true }));
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  expect(best).toBeLessThan(LIMIT);
});

it('a table with 300 names of columns is drawn as one', () => {
  const rows = Array<string>(300).fill('| mean_price_per_unit | 3 |');
  expect(isSimple(['| name | n |', '|-|-|', ...rows].join('\n'))).toBe(true);
});
