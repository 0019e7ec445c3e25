import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { shootBoth } from '../support/screenshots';

/** The model proposes an action. */
const proposed = (service: string, action: string, more = {}) => ({
  call: 'proposeAction',
  arguments: { service, action, ...more }
});

test('the notebook of the proposal is run, interrupted and restarted, whatever tab is active by then', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await lab.server.notebook(`${lab.folder}/runs.ipynb`, [
    { type: 'code', id: 'a', source: 'print("ran " + "it")' },
    { type: 'code', id: 'b', source: 'import time; time.sleep(600)' }
  ]);
  await lab.open('runs.ipynb');
  const notebook = lab.notebook('runs.ipynb');
  await notebook.ready();
  await notebook.kernelReady();

  const act = async (action: string, title: string, turn: number) => {
    await model.script(proposed('jupyterlab', action));
    await panel.ask(`/jupyterlab ${title} here, please`, turn);
    const proposal = panel.root.getByTestId('da-proposal').last();
    await lab.open('cars.ipynb');
    await expect.poll(() => lab.front()).toBe('cars.ipynb');
    await proposal.getByRole('button', { name: title }).click();
    await panel.root
      .getByTestId('da-action-form')
      .getByRole('button', { name: 'Run' })
      .click();
    await panel.ended(turn + 1);
    await expect.poll(() => lab.front()).toBe('runs.ipynb');
  };

  await act('run-all', 'Run all cells', 1);
  await expect(notebook.output(0)).toHaveText('ran it');
  await notebook.kernelBusy();

  await act('interrupt', 'Interrupt the kernel', 3);
  await expect(notebook.output(1)).toContainText('KeyboardInterrupt');

  await act('restart-run-all', 'Restart and run all', 5);
  // JupyterLab asks, and nothing is restarted before the answer.
  const dialog = page.locator('.jp-Dialog');
  await expect(dialog).toContainText('Restart Kernel?');
  await dialog.getByRole('button', { name: /Cancel/ }).click();
  await notebook.kernelReady();
  await expect(notebook.output(1)).toContainText('KeyboardInterrupt');
  // One for each proposal, and none for its run.
  expect(await model.requests()).toHaveLength(3);
});

test('the progress of an action is shown, and Stop ends it with nothing left', async ({
  lab,
  model
}) => {
  const { panel, folder, server } = lab;
  await lab.panelWidth(300);
  // It is read and written for many seconds, on a fast machine too: Stop comes before its end.
  const rows = Array.from(
    { length: 1_000_000 },
    (_, i) => `${i},${i % 97},text`
  );
  await server.text(`${folder}/large.csv`, `n,m,t\n${rows.join('\n')}\n`);
  await model.script(proposed('data', 'convert'));
  await panel.ask(`/data convert ${folder}/large.csv to Excel`);
  const proposal = panel.root.getByTestId('da-proposal');
  await shootBoth(lab, 'proposal-convert-300');
  await proposal.getByTestId('da-open-form').click();
  const form = panel.root.getByTestId('da-action-form');
  await form.getByRole('button', { name: 'Run' }).click();
  const progress = panel.root.getByTestId('da-action-progress');
  // On a busy machine it is read for a while: the process leaves others the processor.
  await expect(progress).toContainText(/(Reading|Writing) · \d+%/);
  await expect(progress.getByRole('progressbar')).toBeVisible();
  await shootBoth(lab, 'action-progress-300');
  await panel.stopButton.click();
  await panel.ended(2, 'aborted');
  await expect(progress).toHaveCount(0);
  await expect(panel.root.getByTestId('da-action-result')).toHaveText(
    'Stopped. Nothing was written.'
  );
  await shootBoth(lab, 'action-stopped-300');
  const files = await server.api<{ content: { name: string }[] }>(
    `api/contents/${folder}`
  );
  expect(files.content.map(({ name }) => name).sort()).toEqual([
    'cars.csv',
    'cars.ipynb',
    'large.csv'
  ]);
});

test('an action that an inline chat proposes is filled in, refined and run there', async ({
  lab,
  model
}) => {
  const { page } = lab;
  const chat = new InlineChat(lab);
  await lab.notebook('cars.ipynb').ready();
  await page.locator('.jp-Notebook .jp-Cell').first().click();
  await chat.open();
  await chat.ask('/help data');
  await expect(chat.root).toContainText('Convert a data file');
  await shootBoth(lab, 'inline-help', 'window');
  await model.script(proposed('notebook', 'export'));
  await chat.ask('/notebook export it please');
  const card = chat.root.getByTestId('da-proposal');
  await expect(card).toContainText('Required');
  await shootBoth(lab, 'inline-proposal', 'window');

  await card.getByRole('button', { name: 'Fill in and run…' }).click();
  const form = chat.root.getByTestId('da-action-form');
  await expect(form.getByLabel('Format')).toBeFocused();
  // Neither a command of the notebook nor the end of the chat.
  await page.keyboard.press('d');
  await page.keyboard.press('d');
  await page.keyboard.press('Escape');
  await expect(form).toHaveCount(0);
  await expect(card).toBeVisible();
  await expect(page.locator('.jp-Notebook .jp-Cell')).toHaveCount(1);

  const more = {
    parameters: { format: 'html' },
    sources: { format: 'a web page' }
  };
  await model.script(proposed('notebook', 'export', more));
  await chat.input.focus();
  await chat.ask('as a web page');
  await expect(card).toContainText('HTML from “a web page”');
  await card.getByRole('button', { name: 'Export the notebook' }).click();
  await shootBoth(lab, 'inline-action-form', 'window');
  await form.getByRole('button', { name: 'Run' }).click();
  const result = chat.root.getByTestId('da-action-result');
  await expect(result).toContainText(/Exported .*cars\.ipynb to/);
  await expect(card.getByRole('button', { name: 'Run again…' })).toBeVisible();
  await shootBoth(lab, 'inline-action-result', 'window');
  await result.getByRole('button', { name: /cars\.html$/ }).click();
  await expect(page.getByRole('tab', { name: 'cars.html' })).toBeVisible();

  // What goes wrong is said in the chat, and the form can be opened again.
  await lab.open('cars.ipynb');
  await card.getByRole('button', { name: 'Run again…' }).click();
  await form.getByRole('button', { name: 'Run' }).click();
  await expect(chat.root.getByRole('alert')).toContainText(
    'Choose another name, or delete the file first.'
  );
  await expect(chat.input).toHaveValue('');
  await expect(card.getByRole('button')).toBeEnabled();
});
