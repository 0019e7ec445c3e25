import { seriousFaults } from '../support/axe';
import { expect, test } from '../support/fixtures';
import { shootBoth } from '../support/screenshots';

test.use({ keepsTab: false });

const SETTINGS = 'lab/api/settings/jupyter-datalayer-agent:';

/** An answer of the model with a cell. */
function cell(source: string): { say: string } {
  return { say: `\`\`\`python\n${source}\n\`\`\`` };
}

test.afterEach(async ({ server }) => {
  await server.api(`${SETTINGS}suggest`, 'PUT', { raw: '{}' });
  await server.api(`${SETTINGS}errors`, 'PUT', { raw: '{}' });
});

test('a next cell is suggested as a ghost: Tab accepts, Escape dismisses, typing cancels', async ({
  tab,
  server,
  model
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/next.ipynb`, [
    { source: "secret = 'x' * 5\nprint('shown here only')", id: 'first' },
    { source: 'total = 3', id: 'second' },
    { source: '1 / 0', id: 'third' }
  ]);
  await server.api(`${SETTINGS}suggest`, 'PUT', {
    raw: '{"enabled": true, "model": "openai/small"}'
  });
  await server.api(`${SETTINGS}errors`, 'PUT', { raw: '{"hints": true}' });
  await tab.load('next.ipynb');
  const notebook = tab.notebook('next.ipynb');
  await notebook.kernelReady();
  const suggestion = page.getByTestId('da-ghost');

  // Names and types only, from the model that is named for it.
  await model.script(cell('print(total)'));
  await notebook.run(0);
  await expect(suggestion).toContainText('print(total)');
  const [request] = await model.requests();
  expect(request.body.model).toBe('small');
  expect(request.text).toContain('secret: str');
  expect(request.text).toContain('total = 3');
  expect(request.text).not.toContain('xxxxx');
  expect(request.text.match(/shown here only/g)).toHaveLength(1);
  const before = await notebook.sources();
  expect(before).toHaveLength(3);
  await shootBoth(tab, 'suggested-cell', 'window');
  expect(await seriousFaults(page, '.da-ghost')).toEqual([]);
  await notebook.edit(0);
  await page.keyboard.press('Tab');
  await expect(suggestion).toHaveCount(0);
  await expect
    .poll(() => notebook.sources())
    .toEqual([before[0], 'print(total)', before[1], before[2]]);
  await notebook.undo();
  await expect.poll(() => notebook.sources()).toEqual(before);

  // Escape leaves everything as it was.
  await model.script(cell('print(1)'));
  await notebook.run(1);
  await expect(suggestion).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(suggestion).toHaveCount(0);
  expect(await notebook.sources()).toEqual(before);

  // Whoever types while the model works ends its work.
  await model.script({ gate: cell('print(2)'), after: 1 });
  await notebook.run(1);
  await model.atGate();
  await page.keyboard.type('4');
  expect(await model.outcome(3)).toBe('disconnected');
  await expect(suggestion).toHaveCount(0);

  // A failed cell gets no suggestion; a known fix is hinted at, and no model is asked.
  await notebook.type(2, '\nprnt(1)');
  await page.keyboard.press('Home');
  await page.keyboard.type('None; ');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Home');
  await page.keyboard.type('#');
  await notebook.run(2);
  const hint = page.getByTestId('da-error-hint');
  await expect(hint).toHaveText('Known fix: Replace prnt with print');
  await expect(suggestion).toHaveCount(0);
  expect((await model.requests()).length).toBe(3);
  await shootBoth(tab, 'error-hint', 'window');
});

test('runs of the agent are not the user’s: they suggest no next cell, and their failures are offered no fix', async ({
  tab,
  server,
  model
}) => {
  const { page, panel } = tab;
  await server.notebook(`${tab.folder}/agent.ipynb`, [
    { source: 'total = 3', id: 'first' },
    { source: 'print(totl)', id: 'second' },
    {
      source:
        '%load_ext jupyter_datalayer_agent\n%agent say what six times seven is',
      id: 'third'
    },
    { source: 'print(totel)', id: 'fourth' }
  ]);
  await server.api(`${SETTINGS}suggest`, 'PUT', { raw: '{"enabled": true}' });
  await server.api(`${SETTINGS}errors`, 'PUT', { raw: '{"hints": true}' });
  const asked: string[] = [];
  page.on('request', request => {
    const route = /datalayer-agent\/(next-cell|fixes)/.exec(request.url());
    if (route) {
      asked.push(route[1]);
    }
  });
  /** What of the two was asked for until a suggestion would have been. */
  const askedSoon = async () => {
    await page.evaluate(() => new Promise(done => setTimeout(done, 2_500)));
    return asked.splice(0);
  };
  await tab.load('agent.ipynb');
  const notebook = tab.notebook('agent.ipynb');
  await notebook.kernelReady();
  await panel.attach('agent.ipynb');
  await panel.mode('agent');
  const suggestion = page.getByTestId('da-ghost');
  const hint = page.getByTestId('da-error-hint');

  // In the session that is shown.
  await model.script(
    {
      call: 'runNotebookCells',
      arguments: { cellIds: ['first', 'fourth'], stopOnError: false }
    },
    { call: 'runNotebookCells', arguments: { cellIds: ['first'] } },
    { say: 'Done.' }
  );
  await panel.ask('Run them');
  await expect(notebook.output(3)).toContainText('NameError');
  expect(await askedSoon()).toEqual([]);

  // In one that is not, while another turn is shown.
  await model.script(
    { call: 'runNotebookCells', arguments: { cellIds: ['second'] } },
    { call: 'runNotebookCells', arguments: { cellIds: ['first'] } },
    { say: 'Done.' }
  );
  const path = `${tab.folder}/agent.ipynb`;
  const { status, toolCalls } = await server.api<{
    status: string;
    toolCalls: unknown[];
  }>('datalayer-agent/chat', 'POST', {
    message: 'Run them',
    mode: 'agent',
    attachments: [{ kind: 'notebook', path }],
    activeNotebook: path
  });
  expect(status).toBe('completed');
  expect(toolCalls).toHaveLength(2);
  await notebook.ran(1);
  expect(await askedSoon()).toEqual([]);
  await expect(panel.root.getByTestId('da-fix-line')).toHaveCount(0);
  await expect(hint).toHaveText(['', '']);

  // A question by the magic, whose cell the user runs.
  await model.script({ say: 'It is 42.' });
  await notebook.run(2);
  await expect(notebook.output(2)).toHaveText('It is 42.');
  expect(await askedSoon()).toEqual([]);

  // The user's own runs, of the same cells: the failure has its fix, the other its next cell.
  await notebook.run(1);
  await expect(hint.first()).toHaveText(/^Known fix: Replace totl/);
  await expect(panel.root.getByTestId('da-fix-line')).toContainText(
    'Fix cell 2'
  );
  expect(asked.splice(0)).toEqual(expect.arrayContaining(['fixes']));

  // Fix and run is the agent's, and its failures are its own.
  await page.getByTestId('da-fix-run').first().click();
  await expect(notebook.output(1)).toHaveText('3');
  await expect(panel.root.getByTestId('da-fix-line')).toHaveCount(0);
  expect(await askedSoon()).not.toContain('next-cell');
  await model.script(cell('print(total)'));
  await notebook.run(0);
  await expect(suggestion).toContainText('print(total)');
});
