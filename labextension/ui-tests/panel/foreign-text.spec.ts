import { expect, test } from '../support/fixtures';

const SIZE = 1_000_000;
/** Milliseconds that the tab may be busy at once. */
const LONGEST = 1000;

/** What is slow to read as Markdown, or to lay out. */
const RUNS = ['[', '<'];

for (const run of RUNS) {
  test(`an answer of a megabyte of ${JSON.stringify(run)} does not stall the tab`, async ({
    lab,
    model
  }) => {
    await model.script({
      say: textOf(run),
      chunk: 50_000
    });
    const { longestTaskMs, worstMs } = await lab.measure(() =>
      lab.panel.ask('Hello')
    );
    console.log(JSON.stringify(run), longestTaskMs, worstMs);
    expect(longestTaskMs).toBeLessThan(LONGEST);
  });
}

/** Its runs differ: an answer that repeats itself is ended by the server. */
function textOf(run: string): string {
  const lines: string[] = [];
  for (let length = 0; length < SIZE;) {
    const times = 1 + ((lines.length * 7919) % 401);
    const line = run.repeat(times) + lines.length;
    lines.push(line);
    length += line.length;
  }
  return lines.join(' ');
}
