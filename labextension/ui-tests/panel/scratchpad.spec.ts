import { expect, test } from '../support/fixtures';
import { NotebookPage } from '../support/notebook';
import { addCell } from '../support/scripts';
import { shootBoth } from '../support/screenshots';

const PLOT =
  'import base64\nfrom IPython.display import Image\nImage(base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="))';

interface IAbout {
  datalayer_agent?: {
    provenance: Record<string, unknown>;
    sessionId: string;
  };
}

test('what is worth keeping goes to the scratchpad and leads back; the Strategist answers there', async ({
  lab,
  model,
  server
}) => {
  const { page, panel } = lab;
  const pad = new NotebookPage(page, 'scratchpad.ipynb');
  const bar = page.getByTestId('da-strategist-bar');
  const labels = page.getByTestId('da-origin');
  await panel.attach('cars.ipynb');
  await panel.mode('agent');
  await lab.notebook('cars.ipynb').kernelReady();
  await model.script(
    addCell(PLOT, { run: true }),
    { say: 'A plot, and code:\n\n```python\ndf_train = 1\n```' },
    { say: 'Noted.' }
  );
  await panel.ask('Plot my df_train');
  await panel.ask('My favourite colour is teal', 2);

  // The answer, its code, and the picture that the call made.
  const turn = panel.turns.first();
  await turn.getByTestId('da-keep-answer').click();
  const notice = panel.root.getByTestId('da-notice-text');
  await expect(notice).toContainText('Added to scratchpad.ipynb');
  // Nothing lies over the input, and the line goes with what is said next.
  await expect(page.locator('.Toastify__toast')).toHaveCount(0);
  await turn.hover();
  await turn.getByRole('button', { name: 'Send code to scratchpad' }).click();
  await turn.getByTestId('da-tool-call').getByRole('button').first().click();
  await turn.getByRole('button', { name: 'Send to scratchpad' }).last().click();
  await expect
    .poll(async () => {
      const read = await server.read('scratchpad.ipynb').catch(() => null);
      return read?.cells.length;
    })
    .toBe(3);
  const kept = await server.read('scratchpad.ipynb');
  expect(kept.cells.map(cell => cell.cell_type)).toEqual([
    'markdown',
    'code',
    'code'
  ]);
  expect(JSON.stringify(kept.cells[2].outputs)).toContain('image/png');
  const turnId = await turn.getAttribute('data-turn');
  for (const cell of kept.cells) {
    const { provenance } = (cell.metadata as IAbout).datalayer_agent!;
    expect(provenance).toEqual({
      aiTurnId: turnId,
      providerId: 'openai',
      responseType: 'batch',
      responseIndex: 0
    });
  }

  // Beside the panel, with a label on each cell that leads back, wherever the panel is by then.
  await panel.root.getByTestId('da-scratchpad').click();
  await pad.ready();
  await expect(bar).toBeVisible();
  await expect(labels).toHaveCount(3);
  await shootBoth(lab, 'scratchpad', 'window');
  await panel.root.getByTestId('da-new-session').click();
  await expect(panel.turns).toHaveCount(0);
  await labels.nth(1).click();
  await expect(panel.turns.first()).toHaveClass(/da-mod-marked/);
  await expect(panel.turns.first()).toContainText('Plot my df_train');

  // The box: it says that it works, takes no second question, and writes the answer as a cell.
  const question = bar.getByRole('textbox');
  const ask = bar.getByRole('button', { name: 'Ask' });
  const colour = (await panel.turns.nth(1).getAttribute('data-turn'))!;
  await model.script(
    { call: 'searchChatHistory', arguments: { query: 'favourite colour' } },
    {
      gate: { say: `It is teal ([you said so](turn:${colour})).`, chunk: 10 },
      after: 1
    }
  );
  await expect(bar.getByTestId('da-strategist-model')).toContainText(
    'Default model'
  );
  await question.fill('Which colour do I like?');
  await question.press('Enter');
  await model.atGate();
  await expect(bar).toContainText('Searching earlier sessions');
  await expect(question).toBeDisabled();
  await expect(ask).toBeDisabled();
  await shootBoth(lab, 'strategist-working', 'window');
  await model.release();
  await expect(labels).toHaveCount(4);
  await expect(labels.last()).toHaveText('From the Strategist');
  await expect(question).toBeEnabled();
  await expect(question).toHaveValue('');
  const answered = (await pad.content())[3];
  expect(answered.source).toContain('It is teal');
  expect(
    (answered.metadata as IAbout).datalayer_agent!.provenance.responseType
  ).toBe('synthesis');
  await shootBoth(lab, 'strategist-answer', 'window');

  // A citation opens its turn, from the cell and from the panel's own card.
  await panel.root.getByTestId('da-new-session').click();
  await page.getByRole('link', { name: 'you said so' }).click();
  await expect(panel.turns.nth(1)).toHaveClass(/da-mod-marked/);

  // An error comes as a cell, too.
  await model.script({
    status: 401,
    body: { error: { message: 'Incorrect API key provided.' } }
  });
  await question.fill('And which number?');
  await ask.click();
  await expect
    .poll(async () => (await pad.sources()).pop())
    .toContain('Not answered');
  expect((await pad.content()).pop()!.metadata).toMatchObject({
    datalayer_agent: { provenance: { aiTurnId: 'error', providerId: 'error' } }
  });
  await expect(labels).toHaveCount(4);

  // In the panel: /strategist and the question, answered in a card; the conversation has none of it.
  await model.script({ say: `Teal ([here](turn:${colour})).` });
  await panel.root.getByTestId('da-new-session').click();
  await panel.input.fill('/strategist Which colour?');
  await panel.input.press('Enter');
  const card = panel.root.getByTestId('da-strategist');
  await expect(card).toContainText('Teal');
  await lab.panelWidth(300);
  await shootBoth(lab, 'strategist-card');
  await expect(panel.turns).toHaveCount(0);
  await card.getByRole('link', { name: 'here' }).click();
  await expect(panel.turns.nth(1)).toHaveClass(/da-mod-marked/);
});

test('a notebook of the user’s own becomes the scratchpad, open or not', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await model.script({ say: 'Worth keeping.' });
  await panel.ask('Say something');
  const toggle = () =>
    page.evaluate(() =>
      window.jupyterapp.commands.execute('datalayer-agent:toggle-scratchpad')
    );
  const bar = page.getByTestId('da-strategist-bar');
  await toggle();
  await expect(bar).toBeVisible();
  await panel.turns.first().getByTestId('da-keep-answer').click();
  const notebook = lab.notebook('cars.ipynb');
  await expect
    .poll(async () => (await notebook.sources()).pop())
    .toBe('Worth keeping.');
  await expect(page.getByTestId('da-origin')).toHaveText('From a session');
  await toggle();
  await expect(bar).toHaveCount(0);
});
