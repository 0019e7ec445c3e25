import { expect, test } from '../support/fixtures';

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

  const act = async (message: string, title: string, turn: number) => {
    await panel.ask(`/jupyterlab ${message}`, turn);
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

  await act('run everything', 'Run all cells', 1);
  await expect(notebook.output(0)).toHaveText('ran it');
  await notebook.kernelBusy();

  await act('interrupt the kernel', 'Interrupt the kernel', 3);
  await expect(notebook.output(1)).toContainText('KeyboardInterrupt');

  await act('restart and run all', 'Restart and run all', 5);
  // JupyterLab asks, and nothing is restarted before the answer.
  const dialog = page.locator('.jp-Dialog');
  await expect(dialog).toContainText('Restart Kernel?');
  await dialog.getByRole('button', { name: /Cancel/ }).click();
  await notebook.kernelReady();
  await expect(notebook.output(1)).toContainText('KeyboardInterrupt');
  expect(await model.requests()).toHaveLength(0);
});
