import { expect, test } from '../support/fixtures';
import { shootBoth } from '../support/screenshots';

const ROWS = 10_000;

/** A table with a row that does not parse, and a column of which one value is no number. */
function cities(): Buffer {
  const rows = Array.from(
    { length: ROWS },
    (_, row) =>
      `${row},City ${row},${row === 5 ? 'unknown' : row * 3},2024-05-06\n`
  );
  rows.splice(10, 0, 'a,row,of,five,values\n');
  return Buffer.from(`id,city,people,founded\n${rows.join('')}`);
}

test('data is uploaded from the attach menu, reported, attached and deleted', async ({
  lab,
  model
}) => {
  const { page, panel } = lab;
  await panel.root.getByTestId('da-attach').click();
  const choosing = page.waitForEvent('filechooser');
  await panel.root.getByTestId('da-upload-data').click();
  await (
    await choosing
  ).setFiles({ name: 'cities.csv', mimeType: 'text/csv', buffer: cities() });
  const upload = panel.root.getByTestId('da-upload');
  await expect(upload).toHaveAttribute('data-stage', 'done');
  await expect(upload).toContainText(
    'Data set cities: 10,000 rows · 4 columns'
  );
  await expect(upload).toContainText('1 row could not be read');
  await upload.getByText('Import details').click();
  await expect(upload).toContainText('line 12: it has 5 values instead of 4');
  await expect(upload).toContainText(
    'people is text: 1 of its 10,000 values are not whole numbers.'
  );
  const chip = panel.attachments.filter({ hasText: 'cities' });
  await expect(chip).toHaveAttribute('data-kind', 'dataset');

  await model.script({ say: 'It has 10,000 rows.' });
  await panel.ask('What is in it?');
  await expect(upload).toHaveCount(0);
  const [request] = await model.requests();
  expect(JSON.stringify(request.body)).toContain(
    'Attached data set cities: 10,000 rows'
  );
  expect(JSON.stringify(request.body)).not.toContain('City 39');

  // The list of data sets: by the chip, and after a reload by the menu.
  await chip.getByRole('button').first().click();
  const card = panel.root.getByTestId('da-datasets');
  const row = card
    .getByTestId('da-dataset')
    .and(card.locator('[data-name="cities"]'));
  await expect(row).toContainText('10,000 rows');
  await row.getByRole('button', { name: 'Delete cities' }).click();
  await row.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(row).toHaveCount(0);
  await expect(chip).toHaveCount(0);
});

test('a file that is dropped on the panel is uploaded; a picture is refused', async ({
  lab
}) => {
  const { page, panel } = lab;
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['name,n\nÅrsta,1\n'], 'dropped.csv'));
    const picture = new Uint8Array(100);
    picture.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    data.items.add(new File([picture], 'picture.csv'));
    return data;
  });
  const log = panel.root.getByRole('log');
  await log.dispatchEvent('dragover', { dataTransfer: transfer });
  await expect(panel.root.locator('.da-mod-drop-foreign')).toBeVisible();
  await log.dispatchEvent('drop', { dataTransfer: transfer });
  const uploads = panel.root.getByTestId('da-upload');
  await expect(uploads.nth(0)).toContainText('Data set dropped: 1 row');
  await expect(uploads.nth(1)).toContainText('is a PNG picture');
  await expect(panel.attachments.filter({ hasText: 'dropped' })).toBeVisible();
  await uploads.nth(1).getByRole('button', { name: 'Close' }).click();
  await expect(uploads).toHaveCount(1);
});

test('an upload on its way can be cancelled, and how it looks', async ({
  lab
}) => {
  const { page, panel } = lab;
  // The network is slow enough for the bar to be seen.
  const network = await page.context().newCDPSession(page);
  await network.send('Network.enable');
  const slow = (bytes: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: bytes
    });
  const choose = async (name: string) => {
    await panel.root.getByTestId('da-attach').click();
    const choosing = page.waitForEvent('filechooser');
    await panel.root.getByTestId('da-upload-data').click();
    await (
      await choosing
    ).setFiles({ name, mimeType: 'text/csv', buffer: cities() });
  };
  const upload = panel.root.getByTestId('da-upload');
  const both = async (name: string) => {
    for (const width of [400, 300]) {
      await lab.panelWidth(width);
      await shootBoth(lab, `${name}-${width}`);
    }
  };
  await slow(50_000);
  await choose('towns.csv');
  await expect(upload).toHaveAttribute('data-stage', 'sending');
  await expect(upload.getByRole('progressbar')).toHaveAttribute(
    'aria-valuenow',
    /^[1-9]/
  );
  await both('upload-sending');
  await upload.getByTestId('da-upload-cancel').click();
  await expect(upload).toHaveCount(0);
  await slow(-1);

  await choose('towns.csv');
  await expect(upload).toHaveAttribute('data-stage', 'done');
  await expect(upload).toContainText('Data set towns:');
  await upload.getByText('Import details').click();
  await both('upload-report');
  await upload.getByRole('button', { name: /^Close/ }).click();
  await panel.root.getByTestId('da-attach').click();
  await panel.root.getByTestId('da-show-datasets').click();
  await expect(panel.root.getByTestId('da-dataset').first()).toBeVisible();
  await both('datasets');
});
