import { expect, test } from '../support/fixtures';
import { shoot, shootBoth } from '../support/screenshots';
import { openWork } from '../support/work';

test.use({ keepsTab: false });

test('outputs are asked about with what would be sent, and what is kept stays with the user', async ({
  tab,
  model
}) => {
  await openWork(tab, 'print("9137-pilut"[::-1])');
  const { panel, page } = tab;
  await panel.root.getByTestId('da-sharing').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Outputs').selectOption('Ask me first');
  await shootBoth(tab, 'sharing-choice', 'window');
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect(panel.root.getByTestId('da-sharing')).toHaveText(
    'outputs: ask first'
  );

  const run = { call: 'runNotebookCells', arguments: { all: true } };
  await model.script(run, run, { say: 'Done.' });
  await panel.send('Run it');
  await expect(panel.waiting).toContainText('Send outputs to the model?');
  await expect(panel.waiting).toContainText('tulip-7319');
  await shootBoth(tab, 'sharing-asked');
  await panel.root.getByTestId('da-deny').click();
  await expect(panel.root).toContainText('You declined to send it');
  await expect(panel.toolCalls.first()).toContainText('not sent');
  const sent = async () => JSON.stringify(await model.requests());
  expect(await sent()).not.toContain('tulip-7319');

  await panel.root.getByTestId('da-approve').click();
  await panel.ended();
  expect(await sent()).toContain('tulip-7319');
  await shoot(tab, 'sharing-decided');
});
