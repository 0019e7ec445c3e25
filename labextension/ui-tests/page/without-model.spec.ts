import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { LabServer } from '../support/server';
import { shootBoth } from '../support/screenshots';

test.use({ withModel: false });

/** Whether each code cell of a notebook has an output, and none is an error. */
async function outputsOf(server: LabServer, path: string) {
  const { cells } = await server.read(path);
  return cells.flatMap(cell =>
    cell.cell_type === 'code' ? (cell.outputs as { output_type: string }[]) : []
  );
}

/** What is seen of the documents. */
function visibleTabs(lab: LabPage) {
  return lab.page.locator('#jp-main-dock-panel .lm-TabBar-tab.lm-mod-current');
}

/** Begin something of the start page. */
function startItem(lab: LabPage, key: string) {
  return lab.panel.root.locator(`.da-welcome [data-item="${key}"]`);
}

test('agent: Data analysis notebook, with no model configured', async ({
  sharedContext
}) => {
  // A root of its own: with one data file there is nothing to ask.
  const server = await LabServer.start(null);
  try {
    await server.cars('work');
    const lab = new LabPage(await sharedContext.newPage(), server, 'work');
    await lab.load('cars.ipynb');
    await lab.notebook('cars.ipynb').ready();
    await expect(lab.panel.root).toContainText('No model is connected yet');
    await lab.panel.send('agent: Data analysis notebook');
    await lab.panel.ended();
    await expect(lab.panel.turns).toContainText('needs no model');

    // In a tab, as a user sees it.
    await expect(visibleTabs(lab)).toContainText(['data_analysis.ipynb']);
    const path = (await server.read('work/data_analysis.ipynb').then(
      () => 'work/data_analysis.ipynb',
      () => 'data_analysis.ipynb'
    )) as string;
    await expect(
      lab.page.locator('.jp-NotebookPanel:not(.lm-mod-hidden) h1').first()
    ).toBeVisible();
    await expect(
      lab.page.locator('.jp-NotebookPanel:not(.lm-mod-hidden)')
    ).toContainText('406');

    // On disk, valid (`read` validates).
    const { cells } = await server.read(path);
    const source = cells.map(cell => String(cell.source)).join('\n');
    expect(cells[0].cell_type).toBe('markdown');
    expect(String(cells[0].source)).toMatch(/^# /);
    for (const part of [
      'import pandas as pd',
      'whitegrid',
      'cars.csv',
      'describe(',
      'isna()'
    ]) {
      expect(source).toContain(part);
    }
    const outputs = await outputsOf(server, path);
    expect(outputs.length).toBeGreaterThan(3);
    expect(outputs.filter(each => each.output_type === 'error')).toEqual([]);
    await lab.page.close();
  } finally {
    await server.close();
  }
});

test('what is close is offered with its parameters, and runs by a click', async ({
  lab,
  server
}) => {
  const { panel } = lab;
  await panel.send(`agent: explore ${lab.folder}/cars.csv`);
  const offer = panel.root.getByTestId('da-offered-workflows');
  await expect(offer).toContainText('Nothing was started');
  await expect(offer).toContainText(
    `Exploratory data analysis · data ${lab.folder}/cars.csv`
  );
  await expect(panel.root.getByTestId('da-tool-call')).toHaveCount(0);
  await shootBoth(lab, 'offered-workflow');

  await offer.getByTestId('da-fill-in-workflow').first().click();
  const form = panel.root.getByTestId('da-workflow-form');
  await expect(form.getByLabel('Data file')).toHaveValue(
    `${lab.folder}/cars.csv`
  );
  await form.getByRole('button', { name: /Close/ }).click();

  await offer.getByTestId('da-run-workflow').first().click();
  await expect(panel.turns).toHaveCount(2);
  await expect(panel.turns.last()).toHaveAttribute('data-status', 'completed', {
    timeout: 80_000
  });
  await expect(offer).toHaveCount(0);
  await expect(visibleTabs(lab)).toContainText([
    'exploratory_data_analysis.ipynb'
  ]);
  const outputs = await outputsOf(server, 'exploratory_data_analysis.ipynb');
  expect(outputs.length).toBeGreaterThan(5);
});

test('a reply changes a proposal, with no model too', async ({ lab }) => {
  const { panel } = lab;
  await panel.ask(`/data convert ${lab.folder}/cars.csv parquet`);
  await panel.ask('no, as JSON lines', 2);
  const proposal = panel.root.getByTestId('da-proposal');
  await expect(proposal).toHaveCount(1);
  await expect(proposal).toContainText('JSON lines');
  await expect(panel.root.getByTestId('da-proposal-replaced')).toHaveCount(1);
});

test('what a message may ask for is offered; a click proposes it, with the values of the message', async ({
  lab
}) => {
  const { panel } = lab;
  await lab.panelWidth(300);
  await panel.ask('/environment aktualisiere numpy');
  const offered = panel.root.getByTestId('da-actions-offered');
  const help = panel.root.getByTestId('da-help');
  await expect(offered.or(help)).toHaveCount(1);
  await expect(panel.root.getByTestId('da-proposal')).toHaveCount(0);
  await shootBoth(lab, 'actions-offered-unknown-words');

  await panel.ask(`/data convert ${lab.folder}/cars.csv to Parquet`, 2);
  await expect(offered.last()).toContainText('Did you mean');
  await expect(panel.root.getByTestId('da-proposal')).toHaveCount(0);
  // Nothing but the card says it.
  await expect(panel.answers).toHaveCount(0);
  await shootBoth(lab, 'actions-offered');
  await offered
    .last()
    .getByRole('button', { name: 'Data: Convert a data file' })
    .click();
  await panel.ended(3);
  const proposal = panel.root.getByTestId('da-proposal');
  await expect(proposal).toContainText('Parquet');
  await expect(proposal).toContainText('cars.csv');
  await expect(panel.root.getByTestId('da-routing').last()).toContainText(
    'your choice'
  );
});

test('an action that is near to a task is offered, and nothing is started', async ({
  lab
}) => {
  const { panel } = lab;
  await lab.panelWidth(300);
  await panel.send('agent: analyze the quality of this notebook');
  await panel.ended(1, 'aborted');
  await expect(panel.root.getByTestId('da-tool-call')).toHaveCount(0);
  const offered = panel.root.getByTestId('da-actions-offered');
  await expect(offered).toContainText('Nothing was started');
  await shootBoth(lab, 'offered-action');
  await offered
    .getByRole('button', { name: "Check the notebook's quality" })
    .click();
  await panel.ended(2);
  await expect(panel.root.getByTestId('da-proposal')).toContainText(
    "Check the notebook's quality"
  );
});

test('a workflow is run by its form; the notebook that it makes is active', async ({
  lab,
  server
}) => {
  const { page, panel } = lab;
  await startItem(lab, 'exploratory-data-analysis').click();
  const form = panel.root.getByTestId('da-workflow-form');
  const data = form.getByLabel('Data file');
  await expect(data).toBeVisible();
  await expect(form.getByLabel('Date column')).toBeHidden();
  if ((await data.inputValue()) === '') {
    await form.getByRole('button', { name: 'Run' }).click();
    await expect(form).toContainText('Data file is required.');
  }
  await data.selectOption(`${lab.folder}/cars.csv`);
  await form.getByText('More options').click();
  await form.getByLabel('Notebook to write').fill(`${lab.folder}/eda.ipynb`);
  await form.getByRole('button', { name: 'Run' }).press('Enter');
  await expect(form).toHaveCount(0);
  await expect(panel.messages('user')).toHaveText(
    'Exploratory data analysis of cars.csv'
  );
  await expect(panel.turns).toHaveCount(1);
  await expect(panel.turns).toHaveAttribute('data-status', 'completed', {
    timeout: 80_000
  });
  await expect(visibleTabs(lab)).toContainText(['eda.ipynb']);
  expect(await lab.front()).toBe('eda.ipynb');
  await expect(
    panel.attachments.filter({ hasText: 'eda.ipynb' })
  ).toHaveAttribute('data-notebook-mode', 'read-only');
  await expect(
    page.locator('.jp-NotebookPanel:not(.lm-mod-hidden) img').first()
  ).toBeAttached();
  const outputs = await outputsOf(server, `${lab.folder}/eda.ipynb`);
  expect(outputs.length).toBeGreaterThan(5);
  expect(outputs.filter(each => each.output_type === 'error')).toEqual([]);
});

test('the quality of the active notebook is shown, and leads to its cells', async ({
  tab
}) => {
  const { panel } = tab;
  await tab.server.notebook(`${tab.folder}/poor.ipynb`, [
    ...Array.from({ length: 30 }, (_, index) => ({
      source: `value_${index} = ${index}`
    })),
    { source: 'from os import *\nprint(undefined_name)', id: 'wild' }
  ]);
  await tab.load('poor.ipynb');
  const notebook = tab.notebook('poor.ipynb');
  await notebook.ready();
  await startItem(tab, 'quality').click();
  const card = panel.root.getByTestId('da-quality');
  await expect(card.getByRole('meter')).toHaveAttribute('aria-valuenow', /\d/);
  const before = Number(
    await card.getByRole('meter').getAttribute('aria-valuenow')
  );
  expect(before).toBeLessThan(100);
  await expect(notebook.cells.last()).not.toBeInViewport();
  const issue = card.getByRole('button', { name: /Cell 31.*os/ }).first();
  await issue.press('Enter');
  await expect(notebook.cells.last()).toBeInViewport();
  expect((await notebook.view()).activeCellId).toBe('wild');
  // Nothing of it is part of the conversation.
  await expect(panel.turns).toHaveCount(0);
  await expect(card.getByText('Ask the agent')).toHaveCount(0);

  // Mended and checked again.
  await notebook.edit(30);
  await tab.page.keyboard.press('Control+a');
  await tab.page.keyboard.type('value_30 = 30');
  await card.getByRole('button', { name: 'Check again' }).click();
  await expect
    .poll(async () =>
      Number(await card.getByRole('meter').getAttribute('aria-valuenow'))
    )
    .toBeGreaterThan(before);
  await card.getByRole('button', { name: /Close/ }).click();
  await expect(card).toHaveCount(0);
  await expect(startItem(tab, 'quality')).toBeVisible();
});

test.describe('with a reload', () => {
  // JupyterLab would restore what the tests before had open.
  test.use({ keepsTab: false });

  test('a tutorial: a wrong answer, what is said of it, the right one, and progress after a reload', async ({
    lab
  }) => {
    const { page, panel } = lab;
    await panel.input.fill('/tutorial pan');
    await panel.input.press('End');
    const option = page.getByRole('listbox').getByRole('option');
    await panel.input.press('d');
    await expect(option.first()).toContainText('pandas-basics');
    await page.keyboard.press('ArrowDown');
    await panel.input.press('Enter');
    await expect(panel.input).toHaveValue('/tutorial pandas-basics');
    await panel.input.press('Enter');

    const card = panel.root.getByTestId('da-lesson');
    await expect(card).toContainText('1. Loading data');
    await expect.poll(() => lab.front()).toBe('pandas-basics.ipynb');
    const progress = card.getByRole('progressbar');
    await expect(progress).toHaveAttribute('aria-valuenow', '0');
    // The mark around the current lesson is not cut to two ticks.
    await expect(progress).toHaveCSS('overflow', 'visible');
    await expect(progress).toHaveCSS('height', '6px');

    const verdict = card.getByTestId('da-verdict');
    await card.getByTestId('da-check').click();
    await expect(verdict).toHaveAttribute('data-passed', 'false', {
      timeout: 60_000
    });
    await expect(verdict).toContainText('penguins');

    await card.getByRole('button', { name: 'Go to cell' }).click();
    await page.evaluate(() => {
      const { content } = window.jupyterapp.shell
        .currentWidget as unknown as import('@jupyterlab/notebook').NotebookPanel;
      content.activeCell!.model.sharedModel.setSource(
        [
          'import pandas as pd',
          'penguins = pd.read_csv("penguins.csv")',
          'n_rows, n_columns = penguins.shape'
        ].join('\n')
      );
    });
    await card.getByTestId('da-check').click();
    await expect(verdict).toHaveAttribute('data-passed', 'true');
    await expect(progress).toHaveAttribute('aria-valuenow', '1');
    await card.getByRole('button', { name: 'Next lesson' }).last().click();
    await expect(card).toContainText('2. Exploring data');
    await expect(verdict).toHaveCount(0);

    await lab.loadAgain();
    await expect(card).toContainText('Pandas basics');
    await expect(progress).toHaveAttribute('aria-valuenow', '1');
    // Where another document is active, the card is small; first JupyterLab restores its tabs.
    await expect.poll(() => lab.front()).toBe('pandas-basics.ipynb');
    await expect(
      page.locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell').first()
    ).toBeVisible();
    await expect(panel.root).toContainText('kernel ready');
    await lab.open('cars.csv');
    await expect.poll(() => lab.front()).toBe('cars.csv');
    await expect(card.getByTestId('da-check')).toHaveCount(0);
    await card.getByRole('button', { name: /Continue in/ }).click();
    await expect(card).toContainText('2. Exploring data');
    await expect(card.getByTestId('da-check')).toBeVisible();
    await card.getByRole('button', { name: /Close/ }).click();
    await expect(card).toHaveCount(0);
  });
});

test('a cell that shows an error is fixed by a click', async ({ tab }) => {
  const { panel } = tab;
  await tab.server.notebook(`${tab.folder}/work.ipynb`, [
    {
      source:
        "import pandas as pd\n\ncars = pd.read_csv('cars.csv')\ncars['Horsepowr'].max()",
      id: 'broken'
    }
  ]);
  await tab.load('work.ipynb');
  const notebook = tab.notebook('work.ipynb');
  await notebook.kernelReady();
  await notebook.run(0);
  await expect(notebook.cells).toContainText('KeyError');
  const chip = panel.root.getByTestId('da-fix').first();
  await expect(chip).toContainText('Horsepower');
  await chip.press('Enter');
  await panel.ended();
  await expect(notebook.cells).toContainText('230');
  expect((await notebook.sources())[0]).toContain("cars['Horsepower']");
  await expect(panel.root.getByTestId('da-fix')).toHaveCount(0);
});

test('what works without a model', async ({ tab: lab }) => {
  const { page, panel } = lab;
  await lab.server.notebook(`${lab.folder}/work.ipynb`, [
    { source: 'from os import *\nimport json\nfrom math import pi' },
    { source: 'print(total)\nopen("/home/me/data.csv")' },
    { source: 'total = 1' }
  ]);
  await lab.load('work.ipynb');
  await page.evaluate(async () => {
    await window.jupyterapp.commands.execute('application:toggle-left-area');
  });
  await lab.panelWidth(340);
  await expect(startItem(lab, 'exploratory-data-analysis')).toBeVisible();
  await shootBoth(lab, 'start-without-model');

  await startItem(lab, 'machine-learning-pipeline').click();
  const form = panel.root.getByTestId('da-workflow-form');
  await form.getByText('More options').click();
  await shootBoth(lab, 'workflow-form');
  await form.getByRole('button', { name: /Close/ }).click();

  // It is about the active notebook, which JupyterLab reports once that is loaded.
  await expect(startItem(lab, 'quality')).toContainText('work.ipynb');
  await panel.input.fill('/quality');
  await panel.input.press('Enter');
  await expect(panel.root.getByRole('meter')).toBeVisible();
  await shootBoth(lab, 'quality');
  await panel.root.getByRole('button', { name: /Close: Quality/ }).click();

  await startItem(lab, 'tutorials').click();
  const tutorials = panel.root.getByTestId('da-tutorials');
  await expect(tutorials).toContainText('of 5 done');
  await shootBoth(lab, 'tutorials');
  await tutorials.locator('[data-item="scikit-learn-first-model"]').click();
  const card = panel.root.getByTestId('da-lesson');
  await card.getByTestId('da-check').click();
  await expect(card.getByTestId('da-verdict')).toBeVisible({
    timeout: 60_000
  });
  await shootBoth(lab, 'tutorial', 'window');
  await card.getByRole('button', { name: /Close/ }).click();
});

test('Explain says what is known of an error without a model; Fix, that none is known', async ({
  tab,
  server
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/errors.ipynb`, [
    { source: 'total = 1\nprint(totl)', id: 'first' },
    { source: '1 / 0', id: 'second' }
  ]);
  await tab.load('errors.ipynb');
  const notebook = tab.notebook('errors.ipynb');
  await notebook.kernelReady();
  const chat = page.getByTestId('da-inline');
  await notebook.run(0);
  await page.getByTestId('da-explain').click();
  await expect(chat).toContainText('Nothing defines this name');
  await expect(chat).toContainText('Replace totl with total');
  await expect(chat).toContainText('A model could tell you more');
  await shootBoth(tab, 'error-explain-without-model', 'window');
  await page.keyboard.press('Escape');
  await expect(chat).toHaveCount(0);
  await notebook.cells.first().getByTestId('da-fix').click();
  await page.getByTestId('da-inline-accept-run').click();
  await expect(notebook.output(0)).toHaveText('1');
  await page.getByTestId('da-inline-close').click();

  await notebook.run(1);
  await notebook.cells.nth(1).getByTestId('da-fix').click();
  await expect(chat).toContainText('No built-in fix for this error');
});
