import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { addCell } from '../support/scripts';
import { openWork } from '../support/work';

/** The notebook whose panel is seen in the main area. */
function shownNotebook(lab: LabPage): Promise<string[]> {
  return lab.page
    .locator('#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current')
    .allInnerTexts();
}

/** Whether JupyterLab's own commands work on the notebook that is current. */
function canRunCells(lab: LabPage): Promise<boolean> {
  return lab.page.evaluate(() =>
    window.jupyterapp.commands.isEnabled('notebook:run-all-cells')
  );
}

test('a notebook that the agent makes is shown, current, attached and sent, and the keyboard stays', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await panel.attach('cars.ipynb');
  await panel.mode('agent');
  await model.script(
    {
      call: 'createNotebook',
      arguments: { name: `${lab.folder}/found.ipynb`, kernelName: 'python3' }
    },
    { gate: { say: 'It is written.' }, after: 0 },
    { say: 'Heavy cars are slow.' }
  );
  await panel.send('Write down what you find in a new notebook');
  await panel.input.focus();
  await model.atGate();
  await page.keyboard.type('what did you find ');

  await expect.poll(() => shownNotebook(lab)).toContain('found.ipynb');
  await expect.poll(() => lab.front()).toBe('found.ipynb');
  expect(await canRunCells(lab)).toBe(true);
  await expect(panel.input).toBeFocused();
  await page.keyboard.type('in this notebook?');
  await expect(panel.input).toHaveValue('what did you find in this notebook?');
  const made = panel.attachments.filter({ hasText: 'found.ipynb' });
  await expect(made).toHaveAttribute('data-notebook-mode', 'full');
  await expect(
    panel.attachments.filter({ hasText: 'cars.ipynb' })
  ).toHaveAttribute('data-notebook-mode', 'off');
  await expect(
    page.locator('.jp-mod-current .lm-TabBar-tabLabel')
  ).toContainText(['found.ipynb']);

  await model.release();
  await panel.ended();
  await page.keyboard.press('Enter');
  await panel.ended(2);
  const { text } = (await model.requests()).at(-1)!;
  const context = text.slice(text.lastIndexOf('<context>'));
  expect(context).toContain(`Notebook ${lab.folder}/found.ipynb: `);
});

for (const { position, run } of [
  { position: 'start', run: false },
  { position: 'start', run: true },
  { position: 'end', run: false }
]) {
  test(`the first cells of a notebook that the agent makes are there, written at the ${position}, ${
    run ? 'run' : 'not run'
  }, and JupyterLab's empty one is not`, async ({ lab, model, server }) => {
    const path = `${lab.folder}/made.ipynb`;
    await lab.panel.mode('agent');
    await model.script(
      {
        call: 'createNotebook',
        arguments: { name: path, kernelName: 'python3' }
      },
      addCell('b = 2', { position, run }),
      addCell('a = 1', { position, run }),
      { say: 'Done.' }
    );
    await lab.panel.ask('Make a notebook');
    await lab.panel.ended();
    const written =
      position === 'start' ? ['a = 1', 'b = 2'] : ['b = 2', 'a = 1'];
    const notebook = lab.notebook('made.ipynb');
    expect(await notebook.sources()).toEqual(written);
    const { cells } = await server.read(path);
    expect(cells.map(({ source }) => source)).toEqual(written);
    await expect(
      lab.page.locator('[data-testid="da-tool-call"][data-status="ok"]')
    ).toHaveCount(3);
  });
}

test('while the user works in a notebook, one that the agent makes waits in a tab behind it, and says so', async ({
  tab: lab,
  model
}) => {
  const { panel } = lab;
  const notebook = await openWork(lab, 'x = 1');
  await model.script(
    {
      gate: {
        call: 'createNotebook',
        arguments: { name: `${lab.folder}/behind.ipynb`, kernelName: 'python3' }
      },
      after: 0
    },
    { say: 'Made.' }
  );
  await panel.send('Make a notebook');
  await model.atGate();
  await notebook.edit(0);
  await model.release();
  await panel.ended();
  await expect(
    lab.page.locator('#jp-main-dock-panel .lm-TabBar-tab')
  ).toContainText(['work.ipynb', 'behind.ipynb']);
  expect(await lab.front()).toBe('work.ipynb');
  expect(await shownNotebook(lab)).toContain('work.ipynb');
  await expect(
    panel.attachments.filter({ hasText: 'work.ipynb' })
  ).toHaveAttribute('data-notebook-mode', 'full');
  await expect(
    panel.attachments.filter({ hasText: 'behind.ipynb' })
  ).toHaveAttribute('data-notebook-mode', 'off');

  // With nothing else attached it is the one that is sent, and its chip says so.
  await panel.attachments
    .filter({ hasText: 'work.ipynb' })
    .getByRole('button', { name: 'Remove' })
    .click();
  await expect(
    panel.attachments.filter({ hasText: 'behind.ipynb' })
  ).toHaveAttribute('data-notebook-mode', 'full');
});
