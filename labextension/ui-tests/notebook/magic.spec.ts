import { expect, test } from '../support/fixtures';
import { addCell } from '../support/scripts';
import { InlineChat } from '../support/inline';
import { shoot, shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

test('an answer streams into a cell, and in Agent mode cells are added and run below it', async ({
  tab,
  model
}) => {
  const notebook = await openWork(
    tab,
    '%load_ext jupyter_datalayer_agent',
    '%agent what is six times seven?',
    '%agent --mode agent work it out',
    'last = "ran meanwhile"\nprint(last)'
  );
  await notebook.kernelReady();
  await model.script(
    { gate: { say: 'It is **42**, and why? Because.', chunk: 6 }, after: 2 },
    { gate: addCell('six = 6\nprint(six * 7)', { run: true }), after: 0 },
    addCell('print(last, six)', { run: true }),
    { say: 'Done: `42`.\n\n```python\nprint(six * 7)\n```' }
  );

  // Run all cells: the question holds the kernel until it is answered, the task does not.
  await tab.page.evaluate(() => {
    void window.jupyterapp.commands.execute('notebook:run-all-cells');
  });
  await expect(notebook.output(1)).toContainText('It is');
  await expect(notebook.output(1)).not.toContainText('Because');
  await expect(notebook.prompt(1)).toHaveText('[*]:');
  await model.release();
  await expect(notebook.output(1)).toHaveText('It is 42, and why? Because.');
  await expect(notebook.output(1).locator('strong')).toHaveText('42');
  await expect(notebook.output(3)).toHaveText('ran meanwhile');
  // Which of the two is shown depends on the model's pace.
  await expect(notebook.output(2)).toHaveText(/^(Working…|Thinking)\s*$/);
  await expect(notebook.prompt(2)).toHaveText('[3]:');
  await model.release();

  await expect(notebook.output(2)).toContainText('Done: 42.');
  expect((await notebook.sources()).slice(3)).toEqual([
    'six = 6\nprint(six * 7)',
    'print(last, six)',
    'last = "ran meanwhile"\nprint(last)'
  ]);
  await expect(notebook.output(3)).toHaveText('42');
  await expect(notebook.output(4)).toHaveText('ran meanwhile 6');
  const steps = notebook.output(2).locator('details');
  await expect(steps.locator('summary')).toHaveText('2 steps');
  await expect(steps.locator('li').first()).toBeHidden();
  await shootBoth(tab, 'magic', 'window');
  await steps.locator('summary').click();
  await expect(steps.locator('li').first()).toContainText('Added cell 4');
  await shootBoth(tab, 'magic-steps', 'window');

  // What it changed is marked where it happened, though the panel shows no conversation; and it is
  // found again when the page is loaded anew.
  const bar = tab.page.getByTestId('da-nb-changes');
  const marks = tab.page.getByTestId('da-mark');
  await expect(bar).toContainText('2 cells changed');
  await expect(marks).toHaveCount(2);
  await tab.loadAgain();
  await expect(bar).toContainText('2 cells changed');
  await expect(marks).toHaveCount(2);
  await bar.getByTestId('da-nb-undo').click();
  await expect(bar).toHaveCount(0);
  expect(await notebook.sources()).toHaveLength(4);

  // What waits for the user is found from the panel, whichever session it shows.
  const { page, panel } = tab;
  await model.script(
    { call: 'deleteNotebookCells', arguments: { cellIds: ['cell-3'] } },
    { say: 'It is gone.' }
  );
  await notebook.run(2);
  const elsewhere = panel.root.getByTestId('da-waits-elsewhere');
  await expect(elsewhere).toContainText(
    'Another session waits for you: what is six times seven?'
  );
  const icon = page.locator('.jp-SideBar [data-id="datalayer-agent-panel"]');
  await expect(icon).toHaveClass(/da-mod-waits/);
  await expect(icon).toHaveAttribute('title', 'Agent: waits for you');
  const link = notebook.output(2).getByRole('link', { name: 'Open it there' });
  await expect(link).toBeVisible();
  await panel.root.getByRole('button', { name: 'Sessions' }).click();
  await expect(panel.root.getByTestId('da-session-list')).toContainText(
    'waits for you'
  );
  await shoot(tab, 'magic-waits-list', 'window');
  await page.keyboard.press('Escape');
  await shootBoth(tab, 'magic-waits', 'window');
  await elsewhere.getByRole('button').press('Enter');
  const approve = panel.waiting.getByTestId('da-approve');
  await expect(approve).toBeFocused();
  await expect(elsewhere).toHaveCount(0);

  // And from the cell.
  await panel.root.getByTestId('da-new-session').click();
  await expect(approve).toHaveCount(0);
  await link.press('Enter');
  await expect(approve).toBeFocused();
  await shootBoth(tab, 'magic-approval', 'window');
  await approve.press('Enter');
  await expect(notebook.output(2)).toContainText('It is gone.');
  await expect(link).toHaveCount(0);
  await expect(icon).not.toHaveClass(/da-mod-waits/);
  expect(await notebook.sources()).toHaveLength(3);
});

test('a question is asked in the cell that loads the magic, and help stays help', async ({
  tab,
  model
}) => {
  const notebook = await openWork(
    tab,
    '%load_ext jupyter_datalayer_agent\n%agent what does this notebook do?',
    'notebook = 42\nnotebook?'
  );
  await notebook.kernelReady();
  await model.script({ say: 'It asks.' });
  await notebook.run(0);
  await expect(notebook.output(0)).toHaveText('It asks.');
  const [{ text }] = await model.requests();
  expect(text).toContain('what does this notebook do?');
  await notebook.run(1);
  await expect(notebook.output(1)).toContainText('String form');
});

test('in a kernel of another language the user learns what works there, and it does', async ({
  tab,
  model,
  server
}) => {
  const { page } = tab;
  const sources = ['%agent hello', 'echo one'];
  await server.notebook(
    `${tab.folder}/shell.ipynb`,
    sources.map((source, index) => ({ source, id: `cell-${index}` })),
    'bash'
  );
  await tab.load('shell.ipynb');
  const notebook = tab.notebook('shell.ipynb');
  await notebook.kernelReady();
  await notebook.run(0);
  const toast = page.locator('.Toastify__toast');
  await expect(toast).toContainText(
    '%agent works in Python kernels, and this one is bash.'
  );
  // It lies over the panel's input for ten seconds.
  await toast.getByTitle('Hide notification').click();
  await expect(toast).toHaveCount(0);
  const chat = new InlineChat(tab);
  await model.script({ say: '```bash cell=cell-1\necho "$((6 * 7))"\n```' });
  await notebook.editor(1).click();
  await chat.open();
  await chat.ask('Six times seven');
  await expect(chat.accept).toBeVisible();
  await page.getByRole('button', { name: 'Accept and run' }).click();
  await expect(notebook.output(1)).toContainText('42');
  const [{ text }] = await model.requests();
  expect(text).toContain('bash');
});

test('nothing that a model says acts in the page, though JupyterLab trusts the output of the cell', async ({
  tab,
  model
}) => {
  const { page } = tab;
  const attacks = [
    '<img src="x" onerror="window.acted = 1">',
    '<script>window.acted = 2</script>',
    '![far](http://far.example/pixel.png) [go](javascript:window.acted=3)',
    '- ```\n  x\n  ```\n<img src="x" onerror="window.acted = 4">\n```',
    '$\n```\n$\n<img src="x" onerror="window.acted = 5">\n```',
    'Code: `<b>` and\n\n```html\n<i>shown</i>\n```\n\n[go][odd]\n\n[odd]: < javascript:window.acted=6>'
  ];
  await openWork(
    tab,
    '%load_ext jupyter_datalayer_agent',
    ...attacks.map(() => '%agent go')
  );
  const notebook = tab.notebook('work.ipynb');
  await notebook.kernelReady();
  const far: string[] = [];
  page.on('request', request => {
    if (request.url().includes('far.example')) {
      far.push(request.url());
    }
  });
  await model.script(...attacks.map(say => ({ say: `${say}\n\nDone.` })));
  await page.evaluate(() => {
    void window.jupyterapp.commands.execute('notebook:run-all-cells');
  });
  for (let index = 1; index <= attacks.length; index++) {
    await expect(notebook.output(index)).toContainText('Done.');
    const output = notebook.output(index);
    await expect(output.locator('img, script')).toHaveCount(0);
    await expect(output.locator('a[href^="javascript" i]')).toHaveCount(0);
    // What is rendered late has been, when formulas and code are.
    await expect(output).toBeVisible();
  }
  const last = notebook.output(attacks.length);
  await expect(last.locator('code').first()).toHaveText('<b>');
  await expect(last.locator('pre code')).toHaveText('<i>shown</i>');
  await shootBoth(tab, 'magic-untrusted', 'window');
  expect(far).toEqual([]);
  expect(await page.evaluate(() => (window as { acted?: number }).acted)).toBe(
    undefined
  );
});
