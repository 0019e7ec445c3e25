import { expect, test } from '../support/fixtures';
import { shootBoth } from '../support/screenshots';

test.use({ withExamplePackage: true });

test('an action of another package is proposed, filled in, run, and its file opens', async ({
  lab,
  model
}) => {
  const { page, panel, folder } = lab;
  await lab.panelWidth(300);
  const parameters = { file: `${folder}/cars.csv` };
  await model.script({
    call: 'proposeAction',
    arguments: { service: 'backup', action: 'copy', parameters }
  });
  await panel.ask('/backup copy cars.csv');
  const proposal = panel.root.getByTestId('da-proposal');
  await expect(proposal).toContainText('Back up a file');
  await expect(proposal).toContainText('cars.csv');
  await shootBoth(lab, 'package-proposal-300');
  await proposal.getByTestId('da-open-form').click();
  const form = panel.root.getByTestId('da-action-form');
  await shootBoth(lab, 'package-form-300');
  await form.getByRole('button', { name: 'Run' }).click();
  const result = panel.root.getByTestId('da-action-result');
  await expect(result).toContainText('is copied to');
  await shootBoth(lab, 'package-result-300');
  await result.getByRole('link').or(result.getByRole('button')).first().click();
  await expect(
    page.locator('#jp-main-dock-panel .lm-TabBar-tabLabel', {
      hasText: 'cars.csv.bak'
    })
  ).toBeVisible();

  await panel.ask('/help backup', 3);
  await expect(panel.root.getByTestId('da-help')).toContainText(
    'Restore a file'
  );
  await shootBoth(lab, 'package-help-300');
});
