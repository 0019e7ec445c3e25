import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '../support/fixtures';
import { shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

const ENDLESS =
  'import time\nprint("begun")\nwhile True:\n    time.sleep(0.05)';

test('an act that needs approval is shown in its place with its diff, and happens once approved', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2');
  await model.script(
    { call: 'getNotebookCells' },
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'Removed.' }
  );
  await tab.panel.send('Remove the second cell');
  const card = tab.panel.waiting;
  await expect(card).toContainText('Remove cell 2');
  await expect(card).toContainText('b = 2');
  // The header says that somebody is waited for, and leads there.
  await tab.panel.root.getByRole('button', { name: 'Waiting for you' }).click();
  await expect(tab.panel.root.getByTestId('da-approve')).toBeInViewport();
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 2']);
  await tab.panel.root.getByTestId('da-approve').click();
  await tab.panel.ended();
  expect(await notebook.sources()).toEqual(['a = 1']);
  await expect(card).toHaveCount(0);
  await expect(tab.panel.root).toContainText('You approved');
});

test('approved for the session, the same kind of act is not asked about again', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2', 'c = 3');
  await model.script(
    { call: 'getNotebookCells' },
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-2'] } },
    { say: 'Removed.' }
  );
  await tab.panel.send('Remove the others');
  await tab.panel.root
    .getByRole('button', { name: 'Approve for this session' })
    .click();
  await tab.panel.ended();
  expect(await notebook.sources()).toEqual(['a = 1']);
});

test('peers 7: a denied act does not happen, and the model reads the reason', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2');
  await model.script(
    { call: 'getNotebookCells' },
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'I leave it.' }
  );
  await tab.panel.send('Remove the second cell');
  // The reason has a field after Deny, which opens on demand.
  await tab.panel.root.getByTestId('da-deny').focus();
  await tab.page.keyboard.press('Tab');
  await tab.page.keyboard.press('Enter');
  await expect(
    tab.panel.waiting.getByRole('textbox', { name: /Reason/ })
  ).toBeFocused();
  await tab.page.keyboard.type('I still need b');
  await tab.page.keyboard.press('Enter');
  await tab.panel.ended();
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 2']);
  await expect(tab.panel.toolCalls.last()).toHaveAttribute(
    'data-status',
    'denied'
  );
  const output = (await model.requests())[2].lastOutput;
  expect(output).toContain('denied');
  expect(output).toContain('I still need b');
  await expect(tab.panel.answers.last()).toHaveText('I leave it.');
});

test('peers 9: an approval that waited long ends its turn and leaves the next one free', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'b = 2');
  await model.script(
    { call: 'getNotebookCells' },
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'The next turn.' }
  );
  await tab.panel.send('Remove the second cell');
  await expect(tab.panel.waiting).toBeVisible();
  await tab.panel.stopButton.click();
  await tab.panel.ended(1, 'aborted');
  await tab.panel.ask('And now?', 2);
  expect(await notebook.sources()).toEqual(['a = 1', 'b = 2']);
  expect((await model.requests())[2].text).toContain('aborted');
});

test('a question of the agent is answered in its place', async ({
  lab,
  model
}) => {
  await model.script(
    {
      call: 'askUser',
      arguments: { question: 'Which origin?', options: ['USA', 'Japan'] }
    },
    { say: 'Japan, then.' }
  );
  await lab.panel.send('Compare the cars');
  await expect(lab.panel.waiting).toContainText('Which origin?');
  await lab.panelWidth(300);
  for (const each of await lab.panel.waiting.getByRole('button').all()) {
    const lines = await each.evaluate(node => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return range.getClientRects().length;
    });
    expect(lines).toBe(1);
  }
  await lab.panel.waiting.getByRole('button', { name: 'Japan' }).click();
  await lab.panel.ended();
  expect((await model.requests())[1].lastOutput).toContain('Japan');
  await expect(lab.panel.waiting).toHaveCount(0);
});

/** Writes a file, and removes it in a way that reading the code does not show. */
const hiddenRemoval = (name: string): string =>
  `import os, time\nopen('${name}', 'x').close()\nrm = vars(os)['re' + 'move']`;

test('code that runs in the page waits before it removes a file, for as long as the user takes', async ({
  tab,
  model,
  server
}) => {
  const name = 'kept-by-the-user.txt';
  // The user's own cell makes the file.
  const notebook = await openWork(tab, hiddenRemoval(name), `rm('${name}')`);
  await notebook.run(0);
  const file = join(server.about.root, tab.folder, name);
  await expect.poll(() => existsSync(file)).toBe(true);
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'It was not allowed.' },
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'Removed.' }
  );
  await tab.panel.send('Clean up');
  const card = tab.panel.waiting;
  await expect(card.getByRole('heading')).toHaveText(
    `Cell 2 wants to delete ${name} (line 1)`
  );
  await expect(notebook.prompt(1)).toHaveText('[*]:');
  await shootBoth(tab, 'act');
  await tab.panelWidth(300);
  await shootBoth(tab, 'act-300');
  await tab.panelWidth(260);
  const title = tab.panel.root.getByRole('heading', { level: 2 });
  expect((await title.boundingBox())!.width).toBeGreaterThan(40);
  // It is its icon alone, under its name, and not cut.
  const light = tab.panel.root.getByRole('button', { name: 'Waiting for you' });
  await expect(light).toHaveText('Waiting for you');
  await expect(light.getByText('Waiting for you')).toBeHidden();
  await expect(light.locator('svg')).toBeVisible();
  expect(await light.evaluate(it => it.scrollWidth - it.clientWidth)).toBe(0);
  await shootBoth(tab, 'act-260');
  await tab.panel.root.getByTestId('da-deny').click();
  await tab.panel.ended();
  await expect(notebook.cells.nth(1)).toContainText(
    `Not allowed to delete ${name}: the user declined.`
  );
  expect(existsSync(file)).toBe(true);
  await tab.panel.send('Do it now');
  await expect(card).toContainText(`wants to delete ${name}`);
  await tab.panel.root.getByTestId('da-approve').click();
  await tab.panel.ended(2);
  expect(existsSync(file)).toBe(false);
});

test('what is typed into a cell while its approval waits is asked about with its text, which the card shows', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'x = 1', '!rm -f junk.txt');
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['cell-1'] } },
    { say: 'It was not allowed.' }
  );
  await tab.panel.send('Clean up');
  const card = tab.panel.waiting;
  await expect(card).toContainText('Cell 2 removes junk.txt (line 1)');
  await expect(card.getByLabel('The code of Cell 2')).toHaveText(
    '!rm -f junk.txt'
  );
  const more = Array.from({ length: 20 }, (_, i) => `\n!rm -f data/${i}.csv`);
  await notebook.type(1, more.join(''));
  await tab.panel.root.getByTestId('da-approve').click();
  await expect(card).toContainText('This is not what you approved');
  await expect(card).toContainText('junk.txt (line 1), data/0.csv (line 2)');
  await expect(card).toContainText('data/19.csv (line 21)');
  await expect(card.getByLabel('The code of Cell 2')).toContainText(
    '!rm -f data/19.csv'
  );
  await shootBoth(tab, 'approval-of-code');
  await tab.panelWidth(300);
  await shootBoth(tab, 'approval-of-code-300');
  await tab.panel.root.getByTestId('da-deny').click();
  await tab.panel.ended();
  await expect(notebook.prompt(1)).toHaveText('[ ]:');
});

test('Stop ends the wait of code that asks, and nothing is done', async ({
  tab,
  model,
  server
}) => {
  const name = 'stopped.txt';
  const notebook = await openWork(tab, hiddenRemoval(name), `rm('${name}')`);
  await notebook.run(0);
  const file = join(server.about.root, tab.folder, name);
  await expect.poll(() => existsSync(file)).toBe(true);
  await model.script({
    call: 'runNotebookCells',
    arguments: { cellIds: ['cell-1'] }
  });
  await tab.panel.send('Clean up');
  await expect(tab.panel.waiting).toContainText('wants to delete');
  await tab.panel.stopButton.click();
  await tab.panel.ended(1, 'aborted');
  await expect(notebook.cells.nth(1)).toContainText('KeyboardInterrupt');
  await expect(tab.panel.waiting).toHaveCount(0);
  expect(existsSync(file)).toBe(true);
});

test('Stop ends the model stream at once and keeps what was said', async ({
  lab,
  model
}) => {
  await model.script(
    {
      gate: { say: 'The first half and the second half', chunk: 14 },
      after: 1
    },
    { say: 'Going on.' }
  );
  await lab.panel.send('Tell me');
  await model.atGate();
  await expect(lab.panel.answers).toHaveText('The first half');
  await lab.panel.stopButton.click();
  expect(await model.outcome(1)).toBe('disconnected');
  await lab.panel.ended(1, 'aborted');
  await expect(lab.panel.answers).toHaveText('The first half');
  await expect(lab.panel.root).toContainText('Stopped.');
  await lab.panel.ask('Go on', 2);
  expect((await model.requests())[1].text).toContain('stopped');
});

test('peers 9: Esc in the panel stops the cell that the agent runs', async ({
  tab,
  model,
  server
}) => {
  const notebook = await openWork(tab, ENDLESS);
  await model.script({
    call: 'runNotebookCells',
    arguments: { cellIds: ['cell-0'] }
  });
  await tab.panel.send('Run it');
  await expect(tab.panel.root).toContainText('Running cell 1');
  await expect(notebook.output(0)).toContainText('begun');
  await expect(notebook.prompt(0)).toHaveText('[*]:');
  await tab.panel.input.press('Escape');
  await tab.panel.ended(1, 'aborted');
  await expect(notebook.cells.first()).toContainText('KeyboardInterrupt');
  await expect(notebook.prompt(0)).toHaveText('[1]:');
  await expect
    .poll(async () => (await server.read(notebook.path)).cells[0].outputs)
    .toHaveLength(2);
});

test('a message that is sent while a turn runs waits; it can be taken back, or sent now', async ({
  lab,
  model
}) => {
  await model.script(
    { gate: { say: 'The first answer' }, after: 1 },
    { say: 'The answer to the third.' }
  );
  await lab.panel.send('First');
  await model.atGate();
  await lab.panel.send('Second');
  await lab.panel.send('Third');
  const queue = lab.panel.root.getByRole('list', { name: 'Queued messages' });
  await expect(queue.getByRole('listitem')).toHaveCount(2);
  const second = queue.getByRole('listitem').filter({ hasText: 'Second' });
  await second.getByRole('button', { name: 'Remove' }).click();
  await expect(second).toHaveCount(0);
  await queue.getByRole('button', { name: 'Send now' }).click();
  expect(await model.outcome(1)).toBe('disconnected');
  await lab.panel.ended(2);
  await expect(lab.panel.messages('user')).toHaveText(['First', 'Third']);
  await expect(lab.panel.answers.last()).toHaveText('The answer to the third.');
  await expect(queue).toHaveCount(0);
  expect(await model.requests()).toHaveLength(2);
});

test('Esc stops the turn and holds what waits, also over a reload, until it is sent', async ({
  lab,
  model
}) => {
  await model.script(
    { gate: { say: 'The first answer' }, after: 1 },
    { say: 'The answer to the second.' }
  );
  await lab.panel.send('First');
  await model.atGate();
  await lab.panel.send('Second');
  const queue = lab.panel.root.getByRole('list', { name: 'Queued messages' });
  await expect(queue.getByRole('listitem')).toHaveCount(1);
  await lab.panel.input.press('Escape');
  await lab.panel.ended(1, 'aborted');
  await expect(queue).toContainText('Not sent: stopped');
  await lab.loadAgain();
  await expect(queue).toContainText('Second');
  await expect(queue).toContainText('Not sent: stopped');
  await expect(lab.panel.turns).toHaveCount(1);
  await queue.getByRole('button', { name: 'Send' }).click();
  await lab.panel.ended(2);
  await expect(lab.panel.answers.last()).toHaveText(
    'The answer to the second.'
  );
  await expect(queue).toHaveCount(0);
  expect(await model.requests()).toHaveLength(2);
});

test('what the user types into a cell while its change waits is in the next card', async ({
  tab,
  model
}) => {
  const notebook = await openWork(tab, 'a = 1', 'rows = 1\n!rm -f junk.txt');
  const edits = [{ oldString: 'rows = 1', newString: 'rows = 2' }];
  await model.script(
    { call: 'getNotebookCells' },
    {
      call: 'updateNotebookCell',
      arguments: { cellId: 'cell-1', edits, run: true }
    },
    { say: 'Changed.' }
  );
  await tab.panel.send('Two rows');
  const card = tab.panel.waiting;
  await expect(card).toContainText('rows = 2');
  await notebook.type(1, '  # mine');
  await tab.panel.root.getByTestId('da-approve').click();
  await expect(card).toContainText(
    'Cell 2 changed while this waited for you. '
  );
  await expect(card).toContainText('# mine');
  await tab.panelWidth(300);
  await shootBoth(tab, 'approval-changed');
  expect((await notebook.sources())[1]).toContain('rows = 1');
  await tab.panel.root.getByTestId('da-approve').click();
  await tab.panel.ended();
  expect((await notebook.sources())[1]).toBe(
    'rows = 2\n!rm -f junk.txt  # mine'
  );
  expect((await model.requests())[2].lastOutput).toContain('changedByUser');
});

test('a narrow card shows every target, and the end of every line', async ({
  tab,
  model
}) => {
  await tab.panelWidth(300);
  const names = Array.from(
    { length: 40 },
    (_, index) => `${'very-long-name-'.repeat(8)}${index}.csv`
  );
  const padded = `x = 1${' '.repeat(500)}; y = 2  # the end`;
  await openWork(tab, 'a = 1');
  await model.script(
    {
      call: 'executeCode',
      arguments: { code: `${padded}\n!rm ${names.join(' ')}` }
    },
    { say: 'Left.' }
  );
  await tab.panel.send('Remove them');
  const card = tab.panel.waiting;
  await expect(card).toContainText('The code removes');
  const reason = await card.locator('p').textContent();
  expect(names.filter(name => !reason?.includes(name))).toEqual([]);
  // Neither the card nor its code is cut at the side.
  for (const part of [card, card.locator('.da-long-text').first()]) {
    expect(
      await part.evaluate(node => node.scrollWidth - node.clientWidth)
    ).toBeLessThanOrEqual(0);
  }
  await shootBoth(tab, 'approval-forty');
  await tab.panel.root.getByTestId('da-deny').click();
  await tab.panel.ended();
});
