import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { shootBoth } from '../support/screenshots';
import { addCell } from '../support/scripts';

const READS = ['getNotebookCells', 'getCellOutputs', 'getNotebookQuality'];
const CHANGES = [
  'addNotebookCell',
  'updateNotebookCell',
  'runNotebookCells',
  'deleteNotebookCells',
  'moveNotebookCell'
];

/** Open a second notebook, which then is the active one. */
async function openOther(lab: LabPage): Promise<void> {
  await lab.server.notebook(`${lab.folder}/other.ipynb`, [
    { source: 'untouched = True', id: 'other-cell' }
  ]);
  await lab.open('other.ipynb');
  await lab.notebook('other.ipynb').ready();
}

test('active and attached, a notebook is changed in Agent mode and only read in Ask mode', async ({
  lab,
  model
}) => {
  const notebook = lab.notebook('cars.ipynb');
  await model.script(
    addCell('forbidden = 1'),
    { say: 'Agent mode can do that.' },
    addCell('allowed = 1'),
    { say: 'Added.' }
  );
  await lab.panel.attach('cars.ipynb');
  await lab.panel.mode('ask');
  await expect(lab.panel.attachments).toHaveAttribute(
    'data-notebook-mode',
    'read-only'
  );
  await lab.panel.ask('Add a cell');
  const [asked, refused] = await model.requests();
  expect(asked.toolNames).toEqual(expect.arrayContaining(READS));
  for (const name of CHANGES) {
    expect(asked.toolNames).not.toContain(name);
  }
  expect(refused.lastOutput).toContain('not_allowed');
  expect(refused.lastOutput).toContain('Agent mode');
  await expect(lab.panel.toolCalls).toHaveText(
    /Not done: Ask mode is read-only/
  );
  expect(await notebook.sources()).toEqual(['# Cars']);

  // What was missing is added, and the same is sent, by a click.
  const again = lab.page.getByTestId('da-add-and-send');
  await expect(again).toHaveText('Switch to Agent mode and send again');
  await again.click();
  await lab.panel.ended(2);
  await expect(again).toHaveCount(0);
  await expect(lab.panel.attachments).toHaveAttribute(
    'data-notebook-mode',
    'full'
  );
  const third = (await model.requests())[2];
  expect(third.toolNames).toEqual(
    expect.arrayContaining([...READS, ...CHANGES])
  );
  expect(await notebook.sources()).toEqual(['# Cars', 'allowed = 1']);
});

test('a notebook that is attached but not active is neither read nor changed', async ({
  lab,
  model
}) => {
  await model.script({ call: 'getNotebookCells' }, addCell('forbidden = 1'), {
    say: 'No notebook is active.'
  });
  await lab.panel.attach('cars.ipynb');
  await lab.panel.mode('agent');
  await openOther(lab);
  await expect(lab.panel.attachments).toHaveAttribute(
    'data-notebook-mode',
    'off'
  );
  await lab.panel.ask('Add a cell');
  // The tools are sent, since createNotebook may open them in mid-turn; the gate refuses them.
  const requests = await model.requests();
  for (const request of requests.slice(1)) {
    expect(request.lastOutput).toContain('No active notebook found');
  }
  await expect(lab.panel.toolCalls).toHaveText(
    /Not done: \S+cars.ipynb is attached, but \S+other.ipynb is the active tab · 2 times/
  );
  expect(await lab.notebook('cars.ipynb').sources()).toEqual(['# Cars']);
  expect(await lab.notebook('other.ipynb').sources()).toEqual([
    'untouched = True'
  ]);

  const again = lab.page.getByTestId('da-add-and-send');
  await expect(again).toHaveText([
    'Open cars.ipynb and send again',
    'Attach other.ipynb and send again'
  ]);
  await shootBoth(lab, 'gate-not-in-front');
  await model.script(addCell('allowed = 1'), { say: 'Added.' });
  await again.first().click();
  await lab.panel.ended(2);
  expect(await lab.front()).toBe('cars.ipynb');
  expect(await lab.notebook('cars.ipynb').sources()).toEqual([
    '# Cars',
    'allowed = 1'
  ]);
});

test('with an active file, an attached notebook is left alone', async ({
  lab,
  model
}) => {
  await model.script(addCell('forbidden = 1'), { say: 'Not possible.' });
  await lab.panel.attach('cars.ipynb');
  await lab.panel.mode('agent');
  await lab.open('cars.csv');
  await expect(lab.panel.attachments).toHaveAttribute(
    'data-notebook-mode',
    'off'
  );
  await lab.panel.ask('Add a cell');
  expect((await model.requests())[1].lastOutput).toContain(
    'No active notebook found'
  );
  expect(await lab.notebook('cars.ipynb').sources()).toEqual(['# Cars']);
});

test('the active notebook that is not attached is left alone', async ({
  lab,
  model
}) => {
  await model.script(
    addCell('forbidden = 1'),
    { say: 'Not possible.' },
    addCell('allowed = 1'),
    { say: 'Added.' }
  );
  // Whoever sends it is asked before.
  await lab.panel.mode('agent');
  const question = lab.page.getByTestId('da-ask-notebook');
  await lab.panel.send('Add a cell');
  await expect(question).toContainText(
    'cars.ipynb is not attached, so the agent cannot see it.'
  );
  await expect(lab.panel.input).toHaveValue('Add a cell');
  await expect(lab.panel.turns).toHaveCount(0);
  await shootBoth(lab, 'gate-not-attached');
  await lab.panel.input.fill('Add a');
  await expect(question).toHaveCount(0);
  await lab.panel.input.fill('Add a cell');
  await lab.page.getByTestId('da-send-without').click();
  await lab.panel.ended();
  const [, second] = await model.requests();
  expect(second.lastOutput).toContain('No active notebook found');
  await expect(lab.panel.toolCalls).toHaveText(
    /Not done: no notebook is attached/
  );
  expect(await lab.notebook('cars.ipynb').sources()).toEqual(['# Cars']);
  await shootBoth(lab, 'gate-refused');
  await lab.page.getByTestId('da-add-and-send').click();
  await lab.panel.ended(2);
  expect(await lab.notebook('cars.ipynb').sources()).toEqual([
    '# Cars',
    'allowed = 1'
  ]);
});

test('a question about the notebook is asked about before it goes out without, in every mode', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  const question = page.getByTestId('da-ask-notebook');
  await model.script(
    { say: 'It is a document.' },
    { say: 'It has one cell.' },
    { say: 'I see none.' },
    { say: 'It has one cell.' }
  );
  // A general question is none about the notebook.
  await panel.ask('What is a notebook?');
  await panel.send('What is in this notebook?');
  await expect(question).toBeVisible();
  await expect(panel.turns).toHaveCount(1);
  await page.getByTestId('da-attach-and-send').click();
  await panel.ended(2);
  await expect(panel.input).toBeFocused();
  await expect(panel.input).toHaveValue('');
  await expect(panel.attachments).toContainText(['cars.ipynb']);
  const { text } = (await model.requests()).at(-1)!;
  const context = text.slice(text.lastIndexOf('<context>'));
  expect(context).toContain(`Notebook ${lab.folder}/cars.ipynb: `);

  // Another one is active now. Enter on the same text sends it as it is.
  await openOther(lab);
  await panel.input.fill('What is in this notebook?');
  await panel.input.press('Enter');
  await expect(
    question.getByRole('button', { name: 'Attach other.ipynb and send' })
  ).toBeVisible();
  await expect(panel.input).toBeFocused();
  await panel.input.press('Enter');
  await panel.ended(3);
  expect((await model.requests()).at(-1)!.toolNames).not.toContain(
    'getNotebookCells'
  );
  await panel.send('What is in this notebook?');
  await question
    .getByRole('button', { name: 'Open cars.ipynb and send' })
    .click();
  await panel.ended(4);
  const last = (await model.requests()).at(-1)!;
  expect(last.text.slice(last.text.lastIndexOf('<context>'))).toContain(
    `Notebook ${lab.folder}/cars.ipynb: `
  );
});

test('peers 2: a switch of tab after the message never redirects the edit', async ({
  lab,
  model,
  server
}) => {
  await lab.panel.attach('cars.ipynb');
  await openOther(lab);
  await lab.panel.attach('other.ipynb');
  await lab.open('cars.ipynb');
  await lab.panel.mode('agent');
  await model.script(
    { gate: addCell('mine = 6 * 7\nmine', { run: true }), after: 0 },
    { say: 'Done.' }
  );
  await lab.panel.send('Add a cell');
  await model.atGate();
  await lab.open('other.ipynb');
  expect(await lab.front()).toBe('other.ipynb');
  await model.release();
  await lab.panel.ended();

  // The edit went where the message was about; the other notebook is as it was, on page and disk.
  const [, added] = await lab.notebook('cars.ipynb').content();
  expect(added.source).toBe('mine = 6 * 7\nmine');
  expect(JSON.stringify(added.outputs)).toContain('42');
  const onDisk = await server.read(`${lab.folder}/cars.ipynb`);
  expect(onDisk.cells[1]).toEqual(added);
  const other = await server.read(`${lab.folder}/other.ipynb`);
  expect(other.cells.map(cell => cell.source)).toEqual(['untouched = True']);
  expect(await lab.notebook('other.ipynb').sources()).toEqual([
    'untouched = True'
  ]);
  // Nor is the user taken to the other tab.
  expect(await lab.front()).toBe('other.ipynb');
});

test('what is chosen and opened while a message is on its way is for the next one', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await openOther(lab);
  await panel.attach('other.ipynb');
  await lab.open('cars.ipynb');
  await panel.attach('cars.ipynb');
  // Its session is only made when the user has gone elsewhere.
  let goOn = () => undefined as void;
  const gone = new Promise<void>(resolve => (goOn = resolve));
  await page.route('**/datalayer-agent/sessions', async route => {
    if (route.request().method() === 'POST') {
      await gone;
    }
    await route.continue();
  });
  await model.script({ say: 'Read.' });
  await panel.send('What is here?');
  await lab.open('other.ipynb');
  await panel.mode('agent');
  expect(await lab.front()).toBe('other.ipynb');
  goOn();
  await panel.ended();
  const { text, toolNames } = (await model.requests()).at(-1)!;
  const context = text.slice(text.lastIndexOf('<context>'));
  expect(context).toContain(`Notebook ${lab.folder}/cars.ipynb: `);
  expect(toolNames).not.toContain('addNotebookCell');
});

test('peers 2: of two attached notebooks only the active one can be changed', async ({
  lab,
  model
}) => {
  await lab.panel.attach('cars.ipynb');
  await openOther(lab);
  await lab.panel.attach('other.ipynb');
  await lab.panel.mode('agent');
  await model.script(
    addCell('wrong = 1', { path: `${lab.folder}/cars.ipynb` }),
    addCell('right = 1'),
    { say: 'Done.' }
  );
  await lab.panel.ask('Add a cell');
  expect((await model.requests())[1].lastOutput).toContain(
    'is not the attached, active notebook'
  );
  expect(await lab.notebook('cars.ipynb').sources()).toEqual(['# Cars']);
  expect(await lab.notebook('other.ipynb').sources()).toEqual([
    'untouched = True',
    'right = 1'
  ]);
});

test('peers 2: of two tabs with the same notebook only the one that sent the message acts', async ({
  lab,
  model,
  server,
  sharedContext
}) => {
  const second = new LabPage(await sharedContext.newPage(), server, lab.folder);
  await second.load('cars.ipynb');
  await second.notebook('cars.ipynb').ready();
  await lab.page.bringToFront();
  await model.script(
    addCell('with open("runs", "a") as runs:\n    runs.write("once ")', {
      run: true
    }),
    addCell('print(open("runs").read())', { run: true }),
    { say: 'Done.' }
  );
  await lab.panel.attach('cars.ipynb');
  await lab.panel.mode('agent');
  await lab.panel.ask('Write it once');
  await expect(lab.notebook('cars.ipynb').output(2)).toHaveText('once');
  expect(await second.notebook('cars.ipynb').sources()).toEqual(['# Cars']);
  await second.page.close();
});
