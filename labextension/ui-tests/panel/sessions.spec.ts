import { readFile } from 'fs/promises';

import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { addCell } from '../support/scripts';
import { shoot, shootBoth, useTheme } from '../support/screenshots';

const menuOf = (lab: LabPage, turn: number) =>
  lab.panel.turns.nth(turn).getByTestId('da-turn-menu');

test('fork, go back with the documents, export, clear: what was said is the user’s', async ({
  lab,
  model,
  server
}) => {
  const { page, panel } = lab;
  const item = (name: string) => page.getByRole('menuitem', { name });
  const dialog = page.locator('.jp-Dialog');
  await panel.attach('cars.ipynb');
  await panel.mode('agent');
  await model.script(
    { say: 'Noted: blue.' },
    addCell('first = 1'),
    { say: 'The cell is there.' },
    addCell('second = 2'),
    { say: 'And another one.' }
  );
  await panel.ask('My favourite colour is blue');
  await panel.ask('Add a cell', 2);
  await panel.ask('Add a second one', 3);
  const notebook = lab.notebook('cars.ipynb');
  await expect.poll(() => notebook.sources()).toContain('second = 2');

  // The steps lead to any turn, and to what it changed.
  const steps = panel.root.getByTestId('da-prompt-list');
  const stepsButton = steps.getByRole('button', { name: 'Steps of this' });
  await stepsButton.click();
  await expect(steps.getByRole('listitem')).toHaveCount(3);
  await expect(steps).toContainText('cars.ipynb · 1 cell');
  await expect(panel.root.getByTestId('da-session-use')).toContainText(
    'tokens'
  );
  await shootBoth(lab, 'steps');
  // By the keyboard alone: down into the list, and to its first step.
  await expect(steps.getByRole('searchbox')).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(panel.turns.first()).toHaveClass(/da-mod-marked/);
  await expect(panel.turns.first()).toBeInViewport();
  await stepsButton.click();
  await steps
    .getByRole('button', { name: /cars.ipynb/ })
    .last()
    .click();
  await expect(page.locator('.jp-Cell.da-mod-flash')).toContainText('second');

  // A copy knows what was said up to there, and nothing after.
  await menuOf(lab, 0).click();
  await item('Fork from Here').click();
  await expect(panel.turns).toHaveCount(1);
  await expect(panel.root).toContainText('Copy of My favourite colour is blue');
  await model.script({ say: 'Blue, as you said.' });
  await panel.ask('Which colour?', 2);
  const inCopy = (await model.requests()).pop()!.text;
  expect(inCopy).toContain('favourite colour is blue');
  expect(inCopy).not.toContain('Add a second one');

  // The original is as it was; going back takes the second cell with it.
  const sessions = panel.root.getByTestId('da-session-list');
  await sessions.getByRole('button', { name: 'Sessions' }).click();
  await sessions.locator('[data-session]').nth(1).click();
  await expect(panel.turns).toHaveCount(3);
  await menuOf(lab, 1).focus();
  await page.keyboard.press('Enter');
  await shootBoth(lab, 'turn-menu', 'window');
  await item('Rewind to Here').click();
  await expect(dialog).toContainText('The turn after this one');
  await shootBoth(lab, 'go-back', 'window');
  await dialog.getByRole('button', { name: 'With the Documents' }).click();
  await expect(panel.root.getByTestId('da-withdrawn')).toContainText(
    '1 turn reverted'
  );
  await expect.poll(() => notebook.sources()).not.toContain('second = 2');
  expect(await notebook.sources()).toContain('first = 1');
  await model.script({ say: 'One cell was added.' });
  await panel.send('What did you add?');
  await expect(panel.answers.last()).toHaveText('One cell was added.');
  expect((await model.requests()).pop()!.text).not.toContain(
    'Add a second one'
  );
  await panel.root
    .getByTestId('da-withdrawn')
    .getByRole('button', { name: 'reverted' })
    .click();
  await expect(panel.turns).toHaveCount(4);
  await lab.panelWidth(300);
  await shootBoth(lab, 'taken-back');
  await stepsButton.click();
  await expect(steps.getByRole('listitem')).toHaveCount(4);
  await shootBoth(lab, 'steps-taken-back');
  await page.keyboard.press('Escape');

  // It survives a reload.
  await lab.loadAgain();
  await expect(panel.root.getByTestId('da-withdrawn')).toBeVisible();
  await expect(panel.turns).toHaveCount(3);

  const downloading = page.waitForEvent('download');
  await panel.input.fill('/export md');
  await panel.input.press('Enter');
  const file = await downloading;
  expect(file.suggestedFilename()).toMatch(/\.md$/);
  const text = await readFile(await file.path(), 'utf8');
  expect(text).toContain('My favourite colour is blue');
  expect(text).toContain('One cell was added.');
  await expect(panel.root.locator('.da-notice')).toContainText(
    `was written as Markdown to ${file.suggestedFilename()}`
  );

  // A summary in place of older turns: announced, and there to be read.
  await model.script({ say: 'They like **blue**; a cell was added.' });
  await panel.input.fill('/compact');
  await panel.input.press('Enter');
  const compacted = panel.root.getByTestId('da-compacted');
  await expect(compacted).toContainText('Earlier turns were summarised');
  await compacted.getByRole('button').click();
  await expect(compacted.locator('strong')).toHaveText('blue');
  await shootBoth(lab, 'compacted');
  // It stays where it was, also when another turn has followed.
  await model.script({ say: 'Blue.' });
  await panel.send('Which is my favourite colour?');
  await expect(panel.answers.last()).toHaveText('Blue.');
  // The user comes back with another model in mind.
  const { sessions: known } = (await server.api(
    'datalayer-agent/sessions?limit=1'
  )) as { sessions: { id: string }[] };
  await server.api(`datalayer-agent/sessions/${known[0].id}`, 'PATCH', {
    settings: { model: 'openai/second-opinion' }
  });
  await lab.loadAgain();
  await expect(panel.answers.last()).toHaveText('Blue.');
  await expect(compacted).toContainText('Earlier turns were summarised');

  // Another model is asked the same, by the keyboard alone; the session goes on from its answer.
  await model.script({ say: 'It is **teal**, I think.' });
  await panel.turns.last().getByTestId('da-turn-menu').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(
    page.getByRole('menuitem', { name: 'second-opinion' })
  ).toBeVisible();
  await shootBoth(lab, 'ask-again-menu', 'window');
  await page.keyboard.press('Enter');
  const further = panel.root.getByTestId('da-further-answer');
  await expect(further).toHaveAttribute('data-status', 'completed');
  await expect(further.locator('strong')).toHaveText('teal');
  await expect(panel.answers.last()).toHaveText('Blue.');
  const again = (await model.requests()).pop()!;
  expect(again.body.tool_choice).toBe('none');
  expect(again.text).toContain('Which is my favourite colour?');
  const choices = panel.root.getByTestId('da-go-on').getByRole('radio');
  await expect(choices.first()).toBeChecked();
  await choices.first().focus();
  await page.keyboard.press('ArrowDown');
  await expect(choices.last()).toBeChecked();
  await lab.panelWidth(300);
  await shootBoth(lab, 'asked-again');
  await lab.loadAgain();
  await expect(further.locator('strong')).toHaveText('teal');
  await expect(choices.last()).toBeChecked();
  await model.script({ say: 'Quite.' });
  await panel.send('Sure?');
  await expect(panel.answers.last()).toHaveText('Quite.');
  const sent = (await model.requests()).pop()!.text;
  expect(sent).toContain('It is **teal**, I think.');
  expect(sent).not.toMatch(/^Blue\.$/m);
  await expect(panel.root.getByTestId('da-went-on')).toContainText(
    'Continued from second-opinion'
  );
  await shootBoth(lab, 'went-on');

  await panel.input.fill('/clear');
  await panel.input.press('Enter');
  await expect(dialog).toContainText('cannot be undone');
  await dialog.getByRole('button', { name: 'Clear' }).click();
  await expect(panel.turns).toHaveCount(0);
  await model.script({ say: 'I do not know.' });
  await panel.ask('Which colour do I like?');
  expect((await model.requests()).pop()!.text).not.toContain('blue');
});

test('two tabs on one session see the same; what waits can be removed or sent now', async ({
  lab,
  model,
  sharedContext,
  server
}) => {
  const { panel } = lab;
  await model.script(
    { gate: { say: 'The first half and the second', chunk: 14 }, after: 1 },
    { say: 'The answer to what was sent now.' }
  );
  await panel.send('One');
  await model.atGate();
  await expect(panel.answers).toHaveText('The first half');
  const sessionId = await lab.page.evaluate(() =>
    sessionStorage.getItem('datalayer-agent:session')
  );

  const page = await sharedContext.newPage();
  await page.addInitScript(id => {
    sessionStorage.setItem('datalayer-agent:session', id!);
  }, sessionId);
  const other = new LabPage(page, server, lab.folder);
  await other.load('cars.ipynb');
  await expect(other.panel.answers).toHaveText('The first half');
  await expect(other.panel.stopButton).toBeVisible();

  const waiting = (tab: LabPage) =>
    tab.panel.root.getByRole('list', { name: 'Queued messages' });
  await panel.send('Two');
  await panel.send('Three');
  for (const tab of [lab, other]) {
    await expect(waiting(tab).getByRole('listitem')).toHaveCount(2);
  }
  await shootBoth(other, 'queue');
  const inOther = waiting(other).getByRole('listitem');
  await inOther
    .filter({ hasText: 'Two' })
    .getByRole('button', { name: 'Remove' })
    .click();
  for (const tab of [lab, other]) {
    await expect(waiting(tab)).not.toContainText('Two');
  }
  await inOther.getByRole('button', { name: 'Send now' }).click();
  for (const tab of [lab, other]) {
    await tab.panel.ended(2);
    await expect(tab.panel.turns.first()).toHaveAttribute(
      'data-status',
      'aborted'
    );
    await expect(tab.panel.answers.last()).toHaveText(
      'The answer to what was sent now.'
    );
    await expect(waiting(tab)).toHaveCount(0);
  }
  expect(await panel.messages('user').allInnerTexts()).toEqual([
    'One',
    'Three'
  ]);
  expect(await panel.turns.allInnerTexts()).toEqual(
    await other.panel.turns.allInnerTexts()
  );
  await page.close();
});

test('a search finds what was said in any session, and leads to it in a long one', async ({
  tab,
  model,
  server
}) => {
  const { page, panel } = tab;
  await model.always({ say: 'An answer.' });
  const chat = (message: string, sessionId?: string) =>
    server.api<{ sessionId: string }>('datalayer-agent/chat', 'POST', {
      message,
      sessionId
    });
  const needle = `df_train_${tab.folder.replace(/\W/g, '_')}`;
  const { sessionId } = await chat(`Begin with ${needle} please`);
  for (let turn = 1; turn < 45; turn++) {
    await chat(`Message ${turn}`, sessionId);
  }
  await tab.load('cars.ipynb');
  await tab.notebook('cars.ipynb').ready();
  await tab.panelWidth(300);
  const sessions = panel.root.getByTestId('da-session-list');
  const hit = sessions.getByTestId('da-search-hit');
  for (const theme of ['dark', 'light'] as const) {
    await useTheme(tab, theme);
    await sessions.getByRole('button', { name: 'Sessions' }).click();
    await sessions.getByRole('searchbox').fill(needle.slice(1, -1));
    await expect(hit).toHaveCount(1);
    await expect(hit.locator('mark')).toHaveText(needle.slice(1, -1));
    await shoot(tab, `search-${theme}`);
    if (theme === 'dark') {
      await page.keyboard.press('Escape');
    }
  }
  await hit.click();
  const first = panel.turns.first();
  await expect(first).toContainText(needle);
  await expect(first).toBeInViewport();
  await expect(first).toHaveClass(/da-mod-marked/);
  // Only what is near is here; the newest is a click away.
  expect(await panel.turns.count()).toBeLessThan(45);
  await panel.root.getByRole('button', { name: 'Later messages' }).click();
  await expect.poll(() => panel.turns.count()).toBeGreaterThan(20);
  await panel.root.getByRole('button', { name: 'Jump to latest' }).click();
  await expect(panel.turns.last()).toContainText('Message 44');
  await expect(panel.turns.last()).toBeInViewport();
  // Reading upwards brings earlier ones.
  const newest = await panel.turns.count();
  expect(newest).toBeLessThan(45);
  await panel.root.getByRole('log').evaluate(node => {
    node.scrollTop = 0;
  });
  await expect.poll(() => panel.turns.count()).toBeGreaterThan(newest);
  await model.script({ say: 'The newest answer.' });
  await panel.send('One more');
  await expect(panel.answers.last()).toHaveText('The newest answer.');
  await page.keyboard.press('Escape');
});
