import { expect, test } from '../support/fixtures';

const SIZE = 1_000_000;
/** Milliseconds that the tab may be busy at once, on a machine that has nothing else to do. */
const LONGEST = 1000;
/** How many times as long as with as many letters, where the machine is busy. */
const TIMES = 3;

/** What is slow to read as Markdown, or to lay out. */
const RUNS = ['[', '<'];

for (const run of RUNS) {
  test(`an answer of a megabyte of ${JSON.stringify(run)} does not stall the tab`, async ({
    lab,
    model
  }) => {
    await model.script(
      { say: textOf('a'), chunk: 50_000 },
      { say: textOf(run), chunk: 50_000 }
    );
    const letters = await lab.measure(() => lab.panel.ask('Letters'));
    await lab.panel.root.getByTestId('da-new-session').click();
    await expect(lab.panel.turns).toHaveCount(0);
    const runs = await lab.measure(() => lab.panel.ask('Runs'));
    console.log(JSON.stringify(run), letters, runs);
    expect(runs.longestTaskMs).toBeLessThan(
      Math.max(LONGEST, TIMES * letters.longestTaskMs)
    );
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
