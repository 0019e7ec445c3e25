import { Locator } from '@playwright/test';

import { seriousFaults } from '../support/axe';
import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { LabPage } from '../support/lab';
import { shootBoth } from '../support/screenshots';

/** The buttons at the error of a cell. */
class ErrorBar {
  constructor(lab: LabPage) {
    this.root = lab.page.getByTestId('da-error-bar');
    this.fix = this.root.getByTestId('da-fix');
    this.fixAndRun = this.root.getByTestId('da-fix-run');
    this.explain = this.root.getByTestId('da-explain');
    this.note = lab.page.getByTestId('da-inline-note');
  }

  readonly root: Locator;
  readonly fix: Locator;
  readonly fixAndRun: Locator;
  readonly explain: Locator;
  /** What the chat says of the fix. */
  readonly note: Locator;
}

/** A proposal for the cell `first`. */
function proposal(source: string): { say: string } {
  return { say: `Here.\n\n\`\`\`python cell=first\n${source}\n\`\`\`\n` };
}

test('Fix proposes a known fix as a diff; the bar comes and goes with the error', async ({
  tab,
  server,
  model
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/fix.ipynb`, [
    { source: 'total = 1\ntoto = 2\nprint(totl)', id: 'first' },
    { source: 'json.dumps(1)', id: 'second' },
    { source: 'fist = 1\nraise KeyboardInterrupt', id: 'third' },
    { source: 'print(rate)', id: 'fourth' },
    { source: 'rate = 3', id: 'fifth' },
    { source: 'import serial', id: 'sixth' }
  ]);
  await tab.load('fix.ipynb');
  const notebook = tab.notebook('fix.ipynb');
  await notebook.kernelReady();
  const bar = new ErrorBar(tab);
  const chat = new InlineChat(tab);
  await notebook.run(2);
  await expect(notebook.output(2)).toContainText('KeyboardInterrupt');
  await expect(bar.root).toHaveCount(0);

  // By keys alone: from the output to Fix, the diff, Accept and run.
  await notebook.run(0);
  await expect(bar.root).toHaveAccessibleName('Error: NameError');
  await bar.fix.focus();
  await page.keyboard.press('Enter');
  await expect(chat.removedLines).toHaveText(['print(totl)']);
  await expect(chat.addedLines).toHaveText(['print(total)']);
  await expect(chat.input).toBeFocused();
  expect((await notebook.sources())[0]).toContain('totl');
  await shootBoth(tab, 'error-fix', 'window');
  // Another name is as near: each is shown in place of the other.
  const other = chat.root.getByTestId('da-inline-other');
  await expect(other).toHaveText('Replace totl with toto');
  await other.click();
  await expect(chat.addedLines).toHaveText(['print(toto)']);
  await expect(other).toHaveText('Replace totl with total');
  await other.press('Enter');
  await expect(chat.addedLines).toHaveText(['print(total)']);
  await expect(chat.input).toBeFocused();
  await page.keyboard.press('Control+Enter');
  await expect(chat.root).toHaveCount(0);
  expect((await notebook.sources())[0]).toContain('print(total)');
  await expect(bar.root).toHaveCount(1);
  await notebook.run(0);
  await expect(notebook.output(0)).toHaveText('1');
  await expect(bar.root).toHaveCount(0);

  // A missing import: a cell of its own or a line, accepted and run in one.
  await notebook.run(1);
  await bar.fix.click();
  await expect(chat.addedLines).toHaveText(['import json']);
  await page.getByTestId('da-inline-accept-run').click();
  await expect(bar.note).toHaveText(
    /^Fixed: added “import json” .*\(attempt 1 of 3\)$/
  );
  await expect(bar.root).toHaveCount(0);
  await expect(chat.input).toHaveCount(0);
  await shootBoth(tab, 'error-fixed', 'window');
  await page.keyboard.press('Escape');
  await expect(chat.root).toHaveCount(0);

  // A cell that was not run: nothing to change, only to run, in the order that it needs.
  await notebook.run(3);
  await bar.fix.click();
  await expect(bar.note).toContainText(
    '“rate” is defined in cell 5, which is below cell 4.'
  );
  await expect(chat.accept).toHaveCount(0);
  await expect(chat.input).toBeFocused();
  await page.keyboard.press('Control+Shift+Enter');
  await expect(notebook.output(3)).toHaveText('3');
  await expect(bar.note).toContainText(
    'Fixed: ran cell 5 first (attempt 1 of 3)'
  );
  // What it says goes with the next act; meanwhile the keyboard is back in the notebook.
  await page.keyboard.press('ArrowDown');
  await expect(notebook.cells.nth(4)).toHaveClass(/jp-mod-active/);
  await expect(chat.root).toHaveCount(0);

  // A module that is missing: a new cell before this one.
  await notebook.run(5);
  await bar.fix.click();
  await expect(chat.newCells).toContainText('%pip install pyserial');
  const added = await chat.newCells.boundingBox();
  expect(added!.y).toBeLessThan((await notebook.editor(5).boundingBox())!.y);
  await shootBoth(tab, 'error-install', 'window');
  const sources = await notebook.sources();
  await chat.accept.click();
  await expect
    .poll(() => notebook.sources())
    .toEqual([
      ...sources.slice(0, 5),
      '%pip install pyserial',
      'import serial'
    ]);
  await notebook.undo();
  await expect.poll(() => notebook.sources()).toEqual(sources);
  expect((await model.requests()).length).toBe(0);
});

test('Fix and run goes on until the cell runs, gives up after three, and stops for the user', async ({
  tab,
  server,
  model
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/run.ipynb`, [
    { source: 'total = 1\nprint(totl)\n1 / 0', id: 'first' },
    { source: 'Answer = 3', id: 'second' }
  ]);
  await tab.load('run.ipynb');
  const notebook = tab.notebook('run.ipynb');
  await notebook.kernelReady();
  const bar = new ErrorBar(tab);
  const chat = new InlineChat(tab);

  // The known fix first, then the model's.
  await notebook.run(0);
  await model.script(proposal('total = 1\nprint(total)\ntotal / 2'));
  await bar.fixAndRun.click();
  await expect(bar.note).toHaveText(
    /^Fixed: .* \(attempt 2 of 3\)\. Attempt 1 did not help, and its changes remain where a later attempt did not replace them/
  );
  await expect(notebook.cells.first()).toContainText('0.5');
  expect((await notebook.sources())[0]).toContain('total / 2');
  const [request] = await model.requests();
  expect(request.text).toContain('ZeroDivisionError');
  expect(request.toolNames).not.toContain('updateNotebookCell');
  await expect(bar.root).toHaveCount(0);
  await shootBoth(tab, 'error-fix-and-run', 'window');
  await page.keyboard.press('Escape');
  await expect(chat.root).toHaveCount(0);

  // Three attempts that do not help.
  await notebook.type(0, '\nraise ValueError("0")');
  await notebook.run(0);
  await model.script(
    ...[1, 2, 3].map(number => proposal(`raise ValueError("${number}")`))
  );
  await bar.fixAndRun.click();
  await expect(chat.root).toContainText('Three attempts failed');
  await expect(notebook.output(0)).toContainText('ValueError: 3');
  expect((await model.requests()).length).toBe(4);
  await shootBoth(tab, 'error-given-up', 'window');
  await page.getByTestId('da-inline-close').click();

  // What acts beyond the kernel is looked at first.
  await model.script(proposal('!touch there.txt'));
  await bar.fixAndRun.click();
  await expect(bar.note).toContainText(
    'Review before running. It runs a shell command: !touch there.txt (line 1).'
  );
  await expect(chat.addedLines).toHaveText(['!touch there.txt']);
  await page.getByTestId('da-inline-close').click();

  // Whoever types elsewhere meanwhile has stopped it: nothing is written.
  const before = (await notebook.sources())[0];
  await model.script({ gate: proposal('pass'), after: 1 });
  await bar.fixAndRun.click();
  await model.atGate();
  await notebook.type(1, '0');
  await expect(bar.note).toHaveText('Stopped.');
  await model.release();
  expect((await notebook.sources())[0]).toBe(before);
  expect((await notebook.sources())[1]).toBe('Answer = 30');
  await page.getByTestId('da-inline-close').click();

  // Stop also interrupts the cell that runs.
  await model.script(proposal('import time\ntime.sleep(600)'));
  await bar.fixAndRun.click();
  await expect(page.getByTestId('da-inline-stop')).toBeVisible();
  await expect(chat.root).toContainText('Attempt 1 of 3: running');
  await page.getByTestId('da-inline-stop').click();
  await expect(notebook.output(0)).toContainText('KeyboardInterrupt');
  await expect(bar.note).toHaveText('Stopped in attempt 1 of 3.');
});

test('Explain answers under the output', async ({ tab, server, model }) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/explain.ipynb`, [
    { source: '1 / 0', id: 'first' }
  ]);
  await tab.load('explain.ipynb');
  const notebook = tab.notebook('explain.ipynb');
  await notebook.kernelReady();
  const bar = new ErrorBar(tab);
  const chat = new InlineChat(tab);
  await notebook.run(0);
  await model.script({ say: 'You divide by **zero**.' });
  await expect(bar.explain).toBeVisible();
  await notebook.editor(0).click({ button: 'right' });
  await page
    .getByRole('menuitem', { name: "Explain the Cell's Error" })
    .click();
  await expect(chat.answer.locator('strong')).toHaveText('zero');
  expect((await model.request(1)).text).toContain('ZeroDivisionError');
  const output = await notebook.output(0).boundingBox();
  const answer = await chat.root.boundingBox();
  expect(answer!.y).toBeGreaterThan(output!.y + output!.height);
  await shootBoth(tab, 'error-explain', 'window');
  expect(await seriousFaults(page, '.da-error-bar', '.da-inline')).toEqual([]);

  // Run again, it fails again: one bar.
  await page.keyboard.press('Escape');
  await notebook.run(0);
  await expect(notebook.prompt(0)).toHaveText('[2]:');
  await expect(bar.root).toHaveCount(1);
});
