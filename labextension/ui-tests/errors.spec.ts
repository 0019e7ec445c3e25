import { Locator } from '@playwright/test';

import { expect, test } from './support/fixtures';
import { InlineChat } from './support/inline';
import { LabPage } from './support/lab';
import { shootBoth } from './support/screenshots';

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
    { source: 'total = 1\nprint(totl)', id: 'first' },
    { source: 'json.dumps(1)', id: 'second' },
    { source: 'fist = 1\nraise KeyboardInterrupt', id: 'third' }
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
  await page.keyboard.press('Control+Enter');
  await expect(chat.root).toHaveCount(0);
  expect((await notebook.sources())[0]).toBe('total = 1\nprint(total)');
  await expect(bar.root).toHaveCount(1);
  await notebook.run(0);
  await expect(notebook.output(0)).toHaveText('1');
  await expect(bar.root).toHaveCount(0);

  // A missing import: a cell of its own or a line, accepted and run in one.
  await notebook.run(1);
  await bar.fix.click();
  await expect(chat.addedLines).toHaveText(['import json']);
  await page.getByTestId('da-inline-accept-run').click();
  await expect(bar.note).toContainText('Attempt 1 of 3 was it');
  await expect(bar.root).toHaveCount(0);
  expect((await model.requests()).length).toBe(0);
});
