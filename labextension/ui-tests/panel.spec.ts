import { expect, test } from './support/fixtures';
import { LabPage } from './support/lab';
import { shoot, useTheme } from './support/screenshots';
import { LabServer } from './support/server';
import { openWork } from './support/work';

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
    await expect(root.getByRole('listitem')).toHaveCount(3);
    await expect(root).toContainText('ollama');
    await expect(
      root.getByRole('button', { name: 'Look again' })
    ).toBeVisible();
    for (const theme of ['light', 'dark'] as const) {
      await useTheme(lab, theme);
      await shoot(lab, `no-model-${theme}`);
    }
    // A message that is sent all the same is answered with the same, and stays.
    await lab.panel.send('Hello');
    await lab.panel.ended(1, 'aborted');
    await expect(root.getByRole('alert')).toContainText('No model');
    await expect(lab.panel.messages('user')).toContainText('Hello');
  } finally {
    await context.close();
    await server.close();
  }
});

test('peers 18: a refused key is told as that, with what to do and without the key', async ({
  lab,
  model
}) => {
  await model.script(
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
  await lab.panel.send('Hello');
  await lab.panel.ended(2, 'aborted');
  await expect(alert.last()).toContainText('The model does not exist.');
  await lab.panel.turns
    .last()
    .getByRole('button', { name: 'Try again' })
    .click();
  await lab.panel.ended(3);
  await expect(lab.panel.answers).toHaveText('Better now.');
});

test('# completes tools and @ completes files, by the keyboard', async ({
  lab,
  model
}) => {
  const { input, attachments } = lab.panel;
  const options = lab.page.getByRole('listbox').getByRole('option');
  await input.focus();
  await lab.page.keyboard.type('Use #getnotebook');
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
  await expect(answer).toContainText('Image not loaded (a chart)');
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
    /1\.2k tokens in · 34 out · [0-9.]+ s/
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
  // The page follows the edit; the person's active cell stays.
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
