import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { shoot, shootBoth } from '../support/screenshots';

/** The model proposes the export, with a format and the user's words for it. */
const exportTo = (format?: string, words?: string) => ({
  call: 'proposeAction',
  arguments: {
    service: 'notebook',
    action: 'export',
    parameters: format ? { format } : {},
    sources: words ? { format: words } : {}
  }
});

const proposals = ({ panel }: LabPage) => panel.root.getByTestId('da-proposal');
const form = ({ panel }: LabPage) => panel.root.getByTestId('da-action-form');

test('a message becomes a proposal, a reply refines it, its form is run, and the file opens', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await lab.panelWidth(300);
  await model.script(exportTo());
  await panel.ask('/notebook export it please');
  await expect(panel.root.getByTestId('da-routing')).toContainText(
    'Notebook: Export the notebook'
  );
  const proposal = proposals(lab);
  await expect(proposal).toContainText('cars.ipynb');
  await expect(proposal).toContainText('the active notebook');
  await expect(proposal).toContainText('Required');
  // Nothing but the card says it.
  await expect(panel.answers).toHaveCount(0);
  await expect(panel.toolCalls).toHaveCount(0);
  await shootBoth(lab, 'proposal-missing-300');

  await proposal.getByRole('button', { name: 'Fill in and run…' }).click();
  await expect(form(lab).getByLabel('Format')).toBeFocused();
  await form(lab).getByRole('button', { name: 'Run' }).click();
  await expect(form(lab).getByRole('alert')).toHaveText(
    'This field is required.'
  );
  await expect(form(lab).getByLabel('Format')).toBeFocused();
  await shootBoth(lab, 'action-form-300');
  // Taking pictures in both themes may have moved the focus.
  await form(lab).getByLabel('Format').focus();
  await page.keyboard.press('Escape');
  await expect(
    proposal.getByRole('button', { name: 'Fill in and run…' })
  ).toBeFocused();

  await model.script(exportTo('html', 'a web page'));
  await panel.ask('as a web page', 2);
  await expect(panel.root.getByTestId('da-proposal-replaced')).toHaveCount(1);
  await expect(proposal).toHaveCount(1);
  await expect(proposal).toContainText('HTML from “a web page”');
  await lab.panelWidth(400);
  await shootBoth(lab, 'proposal');

  const open = proposal.getByRole('button', { name: 'Export the notebook' });
  await open.focus();
  await page.keyboard.press('Enter');
  await expect(form(lab).getByLabel('Format')).toHaveValue(/\d+/);
  await expect(form(lab).getByRole('button', { name: 'Run' })).toBeFocused();
  await page.keyboard.press('Enter');
  await panel.ended(3);
  const result = panel.root.getByTestId('da-action-result');
  await expect(result).toContainText(/Exported .*cars\.ipynb to/);
  await expect(
    proposal.getByRole('button', { name: 'Run again…' })
  ).toBeVisible();
  await shootBoth(lab, 'action-result');
  await result.getByRole('button', { name: /cars\.html$/ }).click();
  await expect(page.getByRole('tab', { name: 'cars.html' })).toBeVisible();

  // The file is there by now: what is wrong is said, with what to do.
  await proposal.getByRole('button', { name: 'Run again…' }).click();
  await form(lab).getByRole('button', { name: 'Run' }).click();
  await panel.ended(4, 'aborted');
  await expect(panel.turns.last().getByRole('alert')).toContainText(
    'Choose another name, or delete the file first.'
  );
  await shoot(lab, 'action-failed');

  // It is the same after a reload.
  await page.reload();
  await lab.shown();
  await expect(proposal).toHaveCount(1);
  await expect(panel.root.getByTestId('da-proposal-replaced')).toHaveCount(1);
  await expect(result).toContainText(/Exported .*cars\.ipynb to/);
});

test('what a message was understood to ask is shown, and corrected by a click', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  // The active notebook is meant, and nobody is asked to attach it.
  await lab.notebook('cars.ipynb').ready();
  await model.script(exportTo('html', 'HTML'));
  await panel.ask('Export this notebook as HTML');
  const routing = panel.root.getByTestId('da-routing');
  await expect(routing).toContainText('Notebook: Export the notebook');
  await expect(routing).toContainText('detected by the model');
  await expect(proposals(lab)).toContainText('cars.ipynb');
  await expect(panel.attachments).toHaveCount(0);
  await routing.getByRole('button', { name: /Change/ }).click();
  await expect(
    page.getByRole('menuitem', { name: 'Notebook: Learn' })
  ).toBeVisible();
  await shoot(lab, 'routing-menu');
  await model.script({ say: 'By nbconvert [1].' });
  await page.getByRole('menuitem', { name: 'Notebook: Learn' }).click();
  await panel.ended(2);
  await expect(panel.answers.last()).toContainText('By nbconvert');
  await expect(panel.answers.last()).toContainText('[1] Notebook, Export');
  await expect(routing.last()).toContainText('Notebook: Learn · your choice');
  await shootBoth(lab, 'learn');

  await model.script({ say: 'An ordinary answer.' });
  await routing
    .last()
    .getByRole('button', { name: /Change/ })
    .click();
  await page.getByRole('menuitem', { name: 'Ordinary Message' }).click();
  await panel.ended(3);
  await expect(panel.answers.last()).toContainText('An ordinary answer.');
  await expect(routing).toHaveCount(2);
  await expect(panel.messages('user')).toHaveText([
    'Export this notebook as HTML',
    'Export this notebook as HTML',
    'Export this notebook as HTML'
  ]);
});

test('/help lists services before the commands of the panel; an example goes into the input', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await panel.input.focus();
  await page.keyboard.type('/', { delay: 30 });
  const options = page.getByRole('listbox').getByRole('option');
  await expect(options.first()).toContainText('/notebook');
  await expect(options.first()).toContainText('Export');
  await page.keyboard.type('help', { delay: 30 });
  await page.keyboard.press('Enter');
  await panel.ended();
  const help = panel.root.getByTestId('da-help');
  await expect(help).toContainText('/notebook');
  await expect(help).toContainText('Summarise older turns');
  await expect(help).toContainText('Shift+Enter');
  await expect(panel.input).toHaveValue('');
  // It is read from its beginning.
  await expect(help.getByText('/notebook', { exact: true })).toBeInViewport();
  await expect(help.getByText('Shift+Enter')).not.toBeInViewport();
  await shootBoth(lab, 'help');
  await help
    .getByRole('button', { name: /Put into the input/ })
    .first()
    .click();
  await expect(panel.input).toHaveValue(/^\/notebook /);
  await expect(panel.input).toBeFocused();
  await expect(panel.turns).toHaveCount(1);

  await panel.input.fill('');
  await panel.ask('/notebok export', 2);
  await expect(panel.answers.last()).toContainText('Did you mean /notebook?');
  expect(await model.requests()).toHaveLength(0);
  await shoot(lab, 'unknown-command');
  await model.script({ say: 'As text.' });
  await panel.root.getByTestId('da-send-as-text').click();
  await panel.ended(3);
  await expect(panel.answers.last()).toContainText('As text.');
  expect((await model.requests())[0].text).toContain('/notebok export');
});

test('options that a service names are begun by a click', async ({
  lab,
  model
}) => {
  const { panel } = lab;
  await lab.panelWidth(300);
  await model.script({
    say: [
      '**Parquet**: small, keeps types [1]. `/data convert cars.csv to Parquet`',
      '**A clean copy first**: `agent: clean cars.csv, then convert it to Parquet`'
    ].join('\n\n')
  });
  await panel.ask('/data ideas for the format of cars.csv?');
  await expect(panel.root.getByTestId('da-routing')).toHaveText(
    /^Data\s*Change/
  );
  const begin = panel.root.getByRole('group', { name: 'Begin with' });
  await expect(begin.getByRole('button')).toHaveText([
    '/data convert cars.csv to Parquet',
    'agent: clean cars.csv, then convert it to Parquet'
  ]);
  await shootBoth(lab, 'brainstorm-300');
  await begin.getByRole('button').first().click();
  await expect(panel.input).toHaveValue('/data convert cars.csv to Parquet');
  await expect(panel.input).toBeFocused();
  const [asked] = await model.requests();
  expect(asked.text).toContain('command /data');
});

test('an action is run from the command palette, without a message', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await lab.panelWidth(300);
  // JupyterLab closes the palette when any command is executed, and its help menu executes one when
  // a kernel starts.
  await lab.notebook('cars.ipynb').kernelReady();
  // Chromium has the palette's keys for itself.
  await page.evaluate(() =>
    window.jupyterapp.commands.execute('apputils:activate-command-palette')
  );
  await page.locator('.lm-CommandPalette-input').fill('run an action');
  await page
    .locator('.lm-CommandPalette-item', { hasText: 'Run an Action…' })
    .click();
  const list = panel.root.getByTestId('da-actions');
  await expect(list).toContainText('Export the notebook');
  await shootBoth(lab, 'actions-300');
  await list.getByRole('searchbox').fill('zzz');
  await expect(list).toContainText('No matching actions.');
  await list.getByRole('searchbox').fill('export');
  await list.getByRole('button', { name: 'Export the notebook' }).click();
  const card = panel.root.getByTestId('da-action-card');
  await expect(
    card.getByRole('combobox', { name: 'Notebook' }).locator('option:checked')
  ).toHaveText(`${lab.folder}/cars.ipynb`);
  await card
    .getByRole('combobox', { name: 'Format' })
    .selectOption({ label: 'Markdown' });
  await shootBoth(lab, 'action-card-300');
  await card.getByRole('button', { name: 'Run' }).click();
  await panel.ended();
  await expect(card).toHaveCount(0);
  await expect(panel.root.getByTestId('da-action-result')).toContainText(
    'cars.md'
  );
  await expect(panel.messages('user')).toHaveText('Export the notebook');
  expect(await model.requests()).toHaveLength(0);
});
