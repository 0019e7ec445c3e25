import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { shoot, shootBoth } from '../support/screenshots';
import { LabServer } from '../support/server';
import { openWork } from '../support/work';

test('with no model the panel says what was looked for and how to connect one', async ({
  browser
}) => {
  const server = await LabServer.start(null);
  const context = await browser.newContext();
  try {
    await server.cars('bare');
    const lab = new LabPage(await context.newPage(), server, 'bare');
    await lab.load('cars.ipynb');
    const { root } = lab.panel;
    await expect(root).toContainText('No model is connected yet');
    await expect(root).toContainText('ANTHROPIC_API_KEY');
    await expect(root.locator('.da-connections > details')).toHaveCount(3);
    await expect(root).toContainText('ollama');
    await expect(
      root.getByRole('button', { name: 'Look again' })
    ).toBeVisible();
    await shootBoth(lab, 'no-model');
    // A message that is sent all the same stays in the input, and makes no session.
    await lab.panel.send('Hello');
    await expect(root.getByRole('alert')).toContainText('Not sent');
    await expect(lab.panel.input).toHaveValue('Hello');
    await expect(lab.panel.turns).toHaveCount(0);
    const { sessions } = await server.api<{ sessions: unknown[] }>(
      'datalayer-agent/sessions'
    );
    expect(sessions).toEqual([]);
    await shoot(lab, 'no-model-sent');
  } finally {
    await context.close();
    await server.close();
  }
});

test('peers 18: a refused key is reported as that, with what to do and without the key', async ({
  lab,
  model
}) => {
  await model.script(
    {
      breakAfter: 2,
      step: { say: 'The first half and the second', chunk: 14 }
    },
    {
      status: 401,
      body: {
        error: {
          message: 'Incorrect API key provided: sk-test-0123456789abcdef'
        }
      }
    },
    { status: 400, body: { error: { message: 'The model does not exist.' } } },
    { say: 'Better now.' }
  );
  await lab.panel.send('Hello');
  await lab.panel.ended(1, 'aborted');
  const alert = lab.panel.root.getByRole('alert');
  await expect(alert).toContainText('refused the key');
  await expect(alert).toContainText('OPENAI_API_KEY');
  await expect(lab.panel.root).not.toContainText('sk-test');
  // What was shown before stays, marked as cut off.
  const broken = lab.panel.root.getByTestId('da-broken');
  await expect(lab.panel.answers).toContainText('The first half');
  await expect(broken).toHaveText('The answer was cut off here.');
  await lab.panel.send('Hello');
  await lab.panel.ended(2, 'aborted');
  await expect(alert.last()).toContainText('The model does not exist.');
  await lab.panel.turns
    .last()
    .getByRole('button', { name: 'Try again' })
    .click();
  await lab.panel.ended(3);
  await expect(lab.panel.answers.last()).toHaveText('Better now.');
  await expect(broken).toHaveCount(1);
});

test('# completes tools and @ completes files, by the keyboard', async ({
  lab,
  model
}) => {
  const { input, attachments } = lab.panel;
  const options = lab.page.getByRole('listbox').getByRole('option');
  await input.focus();
  await lab.page.keyboard.type('Use #getnotebookc');
  await expect(options.first()).toContainText('#getNotebookCells');
  await lab.page.keyboard.press('ArrowDown');
  await lab.page.keyboard.press('Enter');
  await expect(input).toHaveValue('Use #getNotebookCells ');
  await lab.page.keyboard.type(`on @${lab.folder}/cars.c`);
  await expect(options.first()).toContainText('cars.csv');
  await lab.page.keyboard.press('ArrowDown');
  await lab.page.keyboard.press('Enter');
  await expect(input).toHaveValue(
    `Use #getNotebookCells on @${lab.folder}/cars.csv `
  );
  await model.script({ say: 'I did.' });
  await lab.page.keyboard.press('Enter');
  await lab.panel.ended();
  await expect(attachments).toContainText('cars.csv');
  const { text } = (await model.requests())[0];
  expect(text).toContain('#getNotebookCells');
  expect(text).toContain('cars.csv');
});

test('a file that is dragged from the file browser onto the panel is attached', async ({
  lab
}) => {
  const { page, panel } = lab;
  const file = page.locator('.jp-DirListing-item', { hasText: 'cars.csv' });
  await expect(file).toBeVisible();
  const from = (await file.boundingBox())!;
  const to = (await panel.root.boundingBox())!;
  await page.mouse.move(from.x + 40, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x + 80, from.y + 40, { steps: 4 });
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, {
    steps: 8
  });
  await page.mouse.up();
  await expect(panel.attachments).toContainText('cars.csv');
  await panel.attachments.getByRole('button', { name: /Remove/ }).click();
  await expect(panel.attachments).toHaveCount(0);
});

test('a link to a file opens it in JupyterLab; one that leads elsewhere says so', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await model.script({
    say: [
      '[the data](cars.csv)',
      `[the same](${lab.folder}/cars.csv)`,
      '[a secret](../../etc/passwd)',
      '[nothing](gone.txt)',
      '[the top](/lab?reset)',
      '[a page](https://example.com/page)'
    ].join('\n\n')
  });
  await panel.ask('Where is it?');
  const link = (name: string) =>
    panel.answers.getByRole('link', { name, exact: true });
  await link('the data').click();
  await expect.poll(() => lab.front()).toBe('cars.csv');
  await lab.open('cars.ipynb');
  await link('the same').focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => lab.front()).toBe('cars.csv');
  await link('a secret').click();
  await expect(panel.root).toContainText('is outside');
  await link('nothing').click();
  await expect(panel.root).toContainText('File not found: gone.txt');
  await expect(panel.answers).toContainText('(not followed: /lab?reset)');
  await expect(link('the top')).toHaveCount(0);
  const outside = link('a page (example.com)');
  await expect(outside).toHaveAttribute('target', '_blank');
  await expect(outside).toHaveAttribute('rel', /noopener/);
  expect(page.url()).toContain('/lab');
});

test('a file of the user’s computer that is no table is not taken silently', async ({
  lab
}) => {
  const { panel } = lab;
  const transfer = await lab.page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['a,b'], 'mine.py'));
    return data;
  });
  const input = panel.root.getByRole('log');
  await input.dispatchEvent('dragover', { dataTransfer: transfer });
  await expect(panel.root.locator('.da-mod-drop-foreign')).toBeVisible();
  await input.dispatchEvent('drop', { dataTransfer: transfer });
  await expect(panel.root.locator('.da-mod-drop-foreign')).toHaveCount(0);
  await expect(panel.root).toContainText('Upload mine.py to the file browser');
  await expect(panel.attachments).toHaveCount(0);
});

test('Markdown is rendered, and nothing in it runs or loads', async ({
  lab,
  model
}) => {
  const outside: string[] = [];
  lab.page.on('request', request => {
    const { hostname } = new URL(request.url());
    if (!['127.0.0.1', 'localhost', ''].includes(hostname)) {
      outside.push(request.url());
    }
  });
  await model.script({
    say: [
      '# A heading',
      '<script>window.wasRun = 1</script>',
      '<img src="x" onerror="window.wasRun = 2">',
      '![a chart](https://example.com/chart.png)',
      '<img src="https://example.com/pixel.gif">',
      '<svg><image href="https://example.com/svg.png"/></svg>',
      '<div style="background: url(https://example.com/css.png)">styled</div>',
      '<iframe src="https://example.com/frame"></iframe>',
      '<video poster="https://example.com/poster.png"></video>',
      '[a link](javascript:window.wasRun=3)',
      '[another](https://example.com/page)',
      '```python\nprint("code")\n```',
      '| a | b |\n| - | - |\n| 1 | 2 |'
    ].join('\n\n'),
    chunk: 7
  });
  await lab.panel.ask('Show me');
  const answer = lab.panel.answers;
  await expect(
    answer.getByRole('heading', { name: 'A heading' })
  ).toBeVisible();
  await expect(answer.locator('table')).toBeVisible();
  await expect(answer.locator('pre')).toContainText('print("code")');
  await expect(answer).toContainText(
    'Load the picture “a chart” from example.com'
  );
  await expect(answer.getByRole('link', { name: 'another' })).toHaveAttribute(
    'rel',
    /noopener/
  );
  await expect(
    answer.locator(
      'script, iframe, video, img[src^="http"], image[href^="http"]'
    )
  ).toHaveCount(0);
  await expect(answer.getByText('a link')).not.toHaveAttribute('href', /.*/);
  await answer.getByText('a link').click();
  expect(await lab.page.evaluate(() => 'wasRun' in window)).toBe(false);
  expect(outside).toEqual([]);
});

test('a turn shows what it took', async ({ lab, model }) => {
  await model.script({
    answer: [{ say: 'Hello.' }],
    usage: { input: 1200, output: 34, cached: 1000 }
  });
  await lab.panel.ask('Hello');
  await expect(lab.panel.turns.locator('footer')).toHaveText(
    /1\.2k tokens in \(1k cached\) · 34 out · [0-9.]+ s/
  );
});

test('peers 17: the page follows an edit, lists it with its diff, and a click goes to the cell', async ({
  tab,
  model
}) => {
  const sources = Array.from(
    { length: 40 },
    (_, index) => `# step ${index}\nvalue_${index} = 1\n\n\n\nvalue_${index}`
  );
  const notebook = await openWork(tab, ...sources);
  await model.script(
    { call: 'getNotebookCells' },
    {
      call: 'updateNotebookCell',
      arguments: {
        cellId: 'cell-39',
        edits: [{ oldString: 'value_39 = 1', newString: 'value_39 = 39' }]
      }
    },
    { say: 'Changed.' }
  );
  await expect(notebook.cells.last()).not.toBeInViewport();
  await tab.panel.ask('Change the last one');
  // The page follows the edit; the user's active cell stays.
  await expect(notebook.editor(39)).toBeInViewport();
  expect((await notebook.view()).activeCellId).toBe('cell-0');
  await notebook.edit(0);
  await expect(notebook.cells.last()).not.toBeInViewport();
  await expect(tab.panel.changes).toContainText('1 cell changed');
  await tab.panel.changes.getByRole('button', { name: 'View' }).click();
  await expect(tab.panel.changes).toContainText('value_39 = 1');
  await expect(tab.panel.changes).toContainText('value_39 = 39');
  await tab.panel.changes
    .getByRole('button', { name: /Changed cell 40/ })
    .click();
  await expect(notebook.editor(39)).toBeInViewport();
  expect((await notebook.view()).activeCellId).toBe('cell-39');
});

test('sessions are listed, opened, renamed and begun anew', async ({
  lab,
  model,
  server
}) => {
  const { panel } = lab;
  const sessions = panel.root.getByTestId('da-session-list');
  await model.script({ say: 'One.' }, { say: 'Two.' });
  await panel.ask(`The first of ${lab.folder}`);
  await panel.root.getByRole('button', { name: `The first of` }).click();
  const title = panel.root.getByRole('textbox', {
    name: 'Title of the session'
  });
  await title.fill(`Renamed ${lab.folder}`);
  await title.press('Enter');
  await expect(panel.root.getByRole('heading').first()).toHaveText(
    `Renamed ${lab.folder}`
  );

  await panel.root.getByTestId('da-new-session').click();
  await expect(panel.turns).toHaveCount(0);
  await panel.ask(`The second of ${lab.folder}`);
  await expect(panel.answers).toHaveText('Two.');

  await sessions.getByRole('button', { name: 'Sessions' }).click();
  await sessions.getByRole('searchbox').fill(lab.folder);
  const items = sessions.locator('[data-session]');
  await expect(items).toHaveCount(2);
  await items.filter({ hasText: 'Renamed' }).click();
  await expect(panel.answers).toHaveText('One.');
  const { sessions: found } = await server.api<{
    sessions: { title: string }[];
  }>(`datalayer-agent/sessions?query=Renamed%20${lab.folder}`);
  expect(found.map(session => session.title)).toEqual([
    `Renamed ${lab.folder}`
  ]);
});

test('a session is deleted after a question; the one that runs is stopped, the one that is shown gives way', async ({
  lab,
  model,
  server
}) => {
  const { panel } = lab;
  const sessions = panel.root.getByTestId('da-session-list');
  const name = `Running of ${lab.folder}`;
  await model.script({ gate: { say: 'The first half' }, after: 1 });
  await panel.send(name);
  await model.atGate();
  await sessions.getByRole('button', { name: 'Sessions' }).click();
  await sessions.getByRole('searchbox').fill(lab.folder);
  await sessions.getByRole('button', { name: `Delete ${name}` }).click();
  const question = sessions.getByRole('alertdialog');
  await expect(question).toContainText('It is running and will be stopped.');
  await question.getByRole('button', { name: 'Delete' }).click();
  await expect(sessions.locator('[data-session]')).toHaveCount(0);
  expect(await model.outcome(1)).toBe('disconnected');
  await expect(panel.turns).toHaveCount(0);
  await expect(panel.root.getByRole('heading').first()).toHaveText(
    'New session'
  );
  const { sessions: left } = await server.api<{ sessions: unknown[] }>(
    `datalayer-agent/sessions?query=${lab.folder}`
  );
  expect(left).toEqual([]);
  await lab.page.keyboard.press('Escape');
  await model.script({ say: 'Here.' });
  await panel.ask('And now?');
  await expect(panel.answers).toHaveText('Here.');
});
