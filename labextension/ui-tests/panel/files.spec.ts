import { Page } from '@playwright/test';

import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { shoot, shootBoth } from '../support/screenshots';

const PYTHON = 'import os\n\nLIMIT = 10\n\n\ndef run():\n    return LIMIT\n';

/** The text in the editor of the active file, and whether it has unsaved changes. */
function editor(page: Page): Promise<{ text: string; isDirty: boolean }> {
  return page.evaluate(() => {
    const { context } = window.jupyterapp.shell.currentWidget as unknown as {
      context: { model: { toString(): string; dirty: boolean } };
    };
    const { model } = context;
    return { text: model.toString(), isDirty: model.dirty };
  });
}

async function onDisk(tab: LabPage, name: string): Promise<string> {
  const { content } = await tab.server.api<{ content: string }>(
    `api/contents/${tab.folder}/${name}?format=text&type=file`
  );
  return content;
}

async function openFile(tab: LabPage, name: string, text: string) {
  await tab.server.text(`${tab.folder}/${name}`, text);
  await tab.load(name);
  await expect(tab.page.locator('.jp-FileEditor')).toBeVisible();
  await expect.poll(async () => (await editor(tab.page)).text).toBe(text);
  await tab.panel.mode('agent');
}

const edit = (tab: LabPage, name: string, old: string, now: string) => ({
  call: 'editFile',
  arguments: {
    path: `${tab.folder}/${name}`,
    edits: [{ oldString: old, newString: now }]
  }
});

const read = (tab: LabPage, name: string) => ({
  call: 'readFile',
  arguments: { path: `${tab.folder}/${name}` }
});

test('a file that is open in an editor is changed there, with what the user had not saved, and undone', async ({
  tab,
  model
}) => {
  const { page, panel } = tab;
  await openFile(tab, 'data.py', PYTHON);
  await page.locator('.jp-FileEditor .cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('# mine');
  await expect.poll(async () => (await editor(page)).isDirty).toBe(true);
  await model.script(
    read(tab, 'data.py'),
    edit(tab, 'data.py', 'LIMIT = 10', 'LIMIT = 20\nSTEP = 2'),
    {
      call: 'writeFile',
      arguments: { path: `${tab.folder}/notes.md`, content: '# Notes\n' }
    },
    { say: 'Done.' }
  );
  await panel.ask('Raise the limit');
  const changed = PYTHON.replace('= 10', '= 20\nSTEP = 2') + '# mine';
  expect(await editor(page)).toEqual({ text: changed, isDirty: false });
  expect(await onDisk(tab, 'data.py')).toBe(changed);
  await expect(panel.toolCalls).toContainText([
    `Read ${tab.folder}/data.py`,
    `Changed ${tab.folder}/data.py`,
    `Created ${tab.folder}/notes.md`
  ]);
  await expect(panel.changes).toContainText('2 files changed');
  await panel.toolCalls.nth(1).getByRole('button').first().click();
  await expect(panel.toolCalls.nth(1)).toContainText('+ LIMIT = 20');
  await panel.changes.getByRole('button', { name: 'View' }).click();
  await expect(panel.changes).toContainText('# Notes');
  await shootBoth(tab, 'files-changed', 'window');
  await tab.panelWidth(300);
  await shoot(tab, 'files-narrow');
  const isCut = await panel.root.evaluate(
    node => node.scrollWidth > node.clientWidth
  );
  expect(isCut).toBe(false);

  // The user's own later edit stays; a save by the user meets no conflict.
  await page.locator('.jp-FileEditor .cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' and more');
  await page.keyboard.press('Control+s');
  await expect.poll(async () => (await editor(page)).isDirty).toBe(false);
  await expect(page.locator('.jp-Dialog')).toHaveCount(0);
  await panel.changes
    .getByRole('button', { name: `Undo ${tab.folder}/data.py` })
    .click();
  await expect(panel.changes).toContainText('1 file changed');
  const undone = `${PYTHON}# mine and more`;
  expect(await editor(page)).toEqual({ text: undone, isDirty: false });
  expect(await onDisk(tab, 'data.py')).toBe(undone);
  await expect(panel.root).toContainText(
    `Undone: restored ${tab.folder}/data.py`
  );
  await panel.changes.getByRole('button', { name: 'Diff' }).click();
  const diff = page.getByTestId('da-diff-tab');
  await expect(diff.getByRole('status')).toHaveText('2 files changed');
  const [data, notes] = ['data.py', 'notes.md'].map(name =>
    diff.getByRole('region', { name: `${tab.folder}/${name}` })
  );
  await expect(data.getByRole('heading')).toContainText('data.py · undone');
  await expect(data.getByRole('row')).toHaveText([
    'BeforeAfter',
    'import osimport os',
    '',
    '-LIMIT = 10+LIMIT = 20',
    '+STEP = 2',
    '',
    '',
    '⋯⋯'
  ]);
  const heights = await data
    .getByRole('row')
    .evaluateAll(rows => rows.slice(1).map(row => row.clientHeight));
  expect(Math.min(...heights), 'empty lines are seen').toBeGreaterThan(12);
  await expect(notes.getByRole('heading')).toHaveText(
    `${tab.folder}/notes.md · new`
  );
  await expect(notes.getByRole('row').nth(1)).toHaveText('+# Notes');
  await shootBoth(tab, 'files-diff-tab', 'window');
  await diff.getByRole('button', { name: 'Undo' }).click();
  await expect(notes.getByRole('heading')).toContainText('new · undone');
  await expect(panel.changes).toHaveCount(0);
  await expect(onDisk(tab, 'notes.md')).rejects.toThrow('404');
});

test('a file that code wrote anew is shown as it is now, and read so', async ({
  tab,
  model
}) => {
  await openFile(tab, 'data.py', PYTHON);
  await tab.server.text(`${tab.folder}/data.py`, PYTHON.replace('10', '30'));
  await model.script(
    read(tab, 'data.py'),
    edit(tab, 'data.py', 'LIMIT = 30', 'LIMIT = 31'),
    { say: 'Done.' }
  );
  await tab.panel.ask('Raise the limit');
  const text = PYTHON.replace('10', '31');
  expect(await editor(tab.page)).toEqual({ text, isDirty: false });
  expect(await onDisk(tab, 'data.py')).toBe(text);
  await expect(tab.page.locator('.jp-Dialog')).toHaveCount(0);
});

test('overwriting a file asks with its diff, and a conflict of an undo is decided on', async ({
  tab,
  model
}) => {
  const { panel } = tab;
  await openFile(tab, 'data.py', PYTHON);
  await model.script(
    read(tab, 'data.py'),
    {
      call: 'writeFile',
      arguments: { path: `${tab.folder}/data.py`, content: 'LIMIT = 1\n' }
    },
    { say: 'Done.' }
  );
  await panel.send('Make it shorter');
  await expect(panel.waiting).toContainText(`Overwrites ${tab.folder}/data.py`);
  await expect(panel.waiting).toContainText('- import os');
  await shootBoth(tab, 'files-approval');
  expect(await onDisk(tab, 'data.py')).toBe(PYTHON);
  await panel.approve();
  await panel.ended();
  expect((await editor(tab.page)).text).toBe('LIMIT = 1\n');

  await tab.server.text(`${tab.folder}/data.py`, 'LIMIT = 2\n');
  await panel.changes
    .getByRole('button', { name: 'Undo', exact: true })
    .click();
  const conflict = panel.root.getByTestId('da-conflict');
  await expect(conflict).toContainText('data.py was edited in the meantime');
  await shootBoth(tab, 'files-conflict');
  await conflict.getByTestId('da-conflict-restore').click();
  await expect(conflict).toHaveCount(0);
  expect((await editor(tab.page)).text).toBe(PYTHON);
  expect(await onDisk(tab, 'data.py')).toBe(PYTHON);
});

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

test('the words of an upload choose its encoding, and how that looks', async ({
  lab
}) => {
  const { page, panel } = lab;
  // 北京, 上海 in GBK
  const beijing = Buffer.from([0xb1, 0xb1, 0xbe, 0xa9]);
  const shanghai = Buffer.from([0xc9, 0xcf, 0xba, 0xa3]);
  const rows = Buffer.concat([beijing, Buffer.from(',n\n'), shanghai]);
  await panel.root.getByTestId('da-attach').click();
  const choosing = page.waitForEvent('filechooser');
  await panel.root.getByTestId('da-upload-data').click();
  await (
    await choosing
  ).setFiles({
    name: 'cities-gbk.csv',
    mimeType: 'text/csv',
    buffer: Buffer.concat([rows, Buffer.from(',1\n')])
  });
  const upload = panel.root.getByTestId('da-upload');
  await expect(upload).toHaveAttribute('data-stage', 'failed');
  const chinese = upload.getByTestId('da-upload-encoding').filter({
    hasText: 'GBK (simplified Chinese)'
  });
  await expect(chinese).toBeVisible();
  for (const width of [400, 300]) {
    await lab.panelWidth(width);
    await shootBoth(lab, `upload-encodings-${width}`);
  }
  await chinese.click();
  await expect(upload).toContainText('Data set cities-gbk: 1 row');
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
