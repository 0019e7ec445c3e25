import { expect, test } from '../support/fixtures';
import { MAIN_JOB } from '../support/scripts';
import { pictures, shootBoth } from '../support/screenshots';

test.use({ keepsTab: false });

const EXPLANATION = `The notebook has only its heading yet. Beside it lies \`cars.csv\`: **406 cars** of 1970 to 1982.

To begin, load it and look at the gaps:

\`\`\`python
cars = pd.read_csv("cars.csv")
cars.isna().sum()
\`\`\`

| column | gaps |
| - | - |
| Miles_per_Gallon | 8 |
| Horsepower | 6 |

Agent mode can add and run this.`;

const PROPOSAL = `A heading that says what the notebook is about:

\`\`\`markdown cell=heading
# Cars of 1970 to 1982

Horsepower by origin, from \`cars.csv\`.
\`\`\``;

pictures('the panel in each mode and state', async ({ lab, model, mean }) => {
  const { page, panel } = lab;
  const newSession = panel.root.getByTestId('da-new-session');
  await page.evaluate(async () => {
    await window.jupyterapp.commands.execute('application:toggle-left-area');
  });
  await lab.panelWidth(400);
  await lab.notebook('cars.ipynb').kernelReady();
  await expect(panel.root).toContainText('Suggestions for');
  await shootBoth(lab, 'start');

  await panel.attach('cars.ipynb');
  await model.script({ say: EXPLANATION });
  await panel.ask('What is in this notebook?');
  await shootBoth(lab, 'ask');

  await newSession.click();
  await panel.mode('edit');
  await model.script({ say: PROPOSAL });
  await panel.ask('Give this notebook a better heading');
  await shootBoth(lab, 'edit');

  await newSession.click();
  await panel.mode('agent');
  await model.script({
    gate: {
      say: 'First I look at the columns of `cars.csv`. Then I group the cars by origin.',
      chunk: 43
    },
    after: 1
  });
  await panel.send('What is the mean horsepower of American cars?');
  await model.atGate();
  await expect(panel.answers).toContainText('First I look');
  await shootBoth(lab, 'working');
  await panel.stopButton.click();
  await panel.ended(1, 'aborted');
  await shootBoth(lab, 'stopped');

  await newSession.click();
  await model.script(...MAIN_JOB);
  await panel.ask('What is the mean horsepower of American cars?');
  await expect(panel.answers).toContainText(String(mean));
  await panel.toolCalls.nth(2).getByRole('button').first().click();
  await shootBoth(lab, 'agent-open');
  await panel.toolCalls.nth(2).getByRole('button').first().click();
  await panel.changes.getByRole('button', { name: 'View' }).click();
  await shootBoth(lab, 'agent', 'window');
  await panel.changes.getByRole('button', { name: 'Hide' }).click();

  await newSession.click();
  await model.script(
    { call: 'getNotebookCells' },
    {
      call: 'deleteNotebookCells',
      arguments: { cellIds: [{ cell: 'Horsepower' }] }
    },
    { say: 'I leave it.' }
  );
  await panel.send('Remove the last cell');
  await expect(panel.waiting).toBeVisible();
  await shootBoth(lab, 'approval');
  await panel.root.getByTestId('da-deny').click();
  await panel.ended();

  await newSession.click();
  await model.script({
    status: 401,
    body: { error: { message: 'Incorrect API key provided.' } }
  });
  await panel.send('Hello');
  await panel.ended(1, 'aborted');
  await shootBoth(lab, 'error');
});
