import { expect, test } from '../support/fixtures';
import { shootBoth } from '../support/screenshots';

test('the progress of an action is shown, and Stop ends it with nothing left', async ({
  lab,
  model
}) => {
  const { panel, folder, server } = lab;
  await lab.panelWidth(300);
  // It is written for seconds, and read for less than one.
  const rows = Array.from({ length: 100_000 }, (_, i) => `${i},${i % 97},text`);
  await server.text(`${folder}/large.csv`, `n,m,t\n${rows.join('\n')}\n`);
  await model.script({
    say: JSON.stringify({ data: null, format: null, target: null })
  });
  await panel.ask(`/data convert ${folder}/large.csv to Excel`);
  const proposal = panel.root.getByTestId('da-proposal');
  await shootBoth(lab, 'proposal-convert-300');
  await proposal.getByTestId('da-open-form').click();
  const form = panel.root.getByTestId('da-action-form');
  await form.getByRole('button', { name: 'Run' }).click();
  const progress = panel.root.getByTestId('da-action-progress');
  await expect(progress).toContainText(/Writing · \d+ %/);
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
