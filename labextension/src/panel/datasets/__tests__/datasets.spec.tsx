import React from 'react';

import { ApiError } from '../../../api/errors';
import { IUploadOptions } from '../../../api/upload';
import { datasetOf } from './datasetSamples';
import { DatasetsCard } from '../DatasetsCard';
import { Uploads } from '../Uploads';
import {
  button,
  clear,
  click,
  doing,
  draw,
  makePanel
} from '../../__tests__/render';

afterEach(clear);

describe('Uploads', () => {
  it('shows how far a file is, and takes it back', async () => {
    const { model, client } = await makePanel();
    let upload: IUploadOptions | undefined;
    client.uploading = options => {
      upload = options;
      return new Promise((_, reject) =>
        options.signal.addEventListener('abort', () => reject(new Error()))
      );
    };
    const node = await draw(model, <Uploads />);
    expect(node.textContent).toBe('');
    await doing(() => void model.datasets.upload([new File(['x'], 'a.csv')]));
    await doing(() => upload?.onStep({ stage: 'sending', fraction: 0.42 }));
    const bar = node.querySelector('[role="progressbar"]');
    expect(bar?.getAttribute('aria-valuenow')).toBe('42');
    expect(bar?.getAttribute('aria-label')).toContain('Sending 42');
    await click(button(node, 'Cancel'));
    expect(upload?.signal.aborted).toBe(true);
    expect(node.textContent).toBe('');
  });

  it('offers the encodings of a file, and sends it again in the chosen one', async () => {
    const { model, client } = await makePanel();
    const sent: (string | undefined)[] = [];
    client.uploading = async ({ encoding }) => {
      sent.push(encoding);
      if (encoding) {
        return datasetOf('cities', 'cities.csv');
      }
      throw new ApiError('invalid_request', 'It is not certain.', {
        encodings: [
          { encoding: 'gb18030', label: 'GBK', preview: '北京' },
          { encoding: 'cp949', label: 'EUC-KR', preview: '굇쑴' }
        ]
      });
    };
    const node = await draw(model, <Uploads />);
    await doing(() => model.datasets.upload([new File(['x'], 'cities.csv')]));
    expect(node.textContent).toContain('GBK 北京');
    expect(node.textContent).toContain('EUC-KR 굇쑴');
    await click(button(node, 'GBK'));
    expect(sent).toEqual([undefined, 'gb18030']);
    expect(node.textContent).not.toContain('EUC-KR');
    expect(node.textContent).toContain('Data set cities');
    expect(model.composerState.hasDataset('cities')).toBe(true);
  });

  it('shows what was read, and what was not', async () => {
    const { model, client } = await makePanel();
    client.uploading = async () =>
      datasetOf('cities', 'cities.csv', {
        rejectedRows: 2,
        rejected: [
          { line: 3, reason: 'it has 2 values instead of 3' },
          { line: 1204, reason: 'it has 4 values instead of 3' }
        ],
        notes: ['zip is text: 3 of its 9 values are not numbers.']
      });
    const node = await draw(model, <Uploads />);
    await doing(() => model.datasets.upload([new File(['x'], 'cities.csv')]));
    const text = node.textContent;
    expect(text).toContain('Data set cities: 1,200 rows · 2 columns');
    expect(text).toContain('2 rows could not be read');
    expect(text).toContain('line 1,204: it has 4 values instead of 3');
    expect(text).toContain('zip is text');
    expect(model.composerState.hasDataset('cities')).toBe(true);
  });

  it('says why a file is no data set', async () => {
    const { model, client } = await makePanel();
    client.uploading = async () => {
      throw new ApiError('invalid_request', 'x.csv is a PNG picture.');
    };
    const node = await draw(model, <Uploads />);
    await doing(() => model.datasets.upload([new File(['x'], 'x.csv')]));
    expect(node.querySelector('[role="alert"]')?.textContent).toBe(
      'x.csv is a PNG picture.'
    );
  });
});

describe('DatasetsCard', () => {
  it('lists, attaches and deletes', async () => {
    const { model, client, ops } = await makePanel();
    client.datasets = [datasetOf('cities'), datasetOf('sales')];
    await doing(() => model.showDatasets());
    const node = await draw(model, <DatasetsCard />);
    expect(node.querySelectorAll('[data-testid="da-dataset"]')).toHaveLength(2);
    await click(node.querySelector('[aria-label="Attach sales"]'));
    expect(model.composerState.hasDataset('sales')).toBe(true);
    expect(ops()).toContainEqual({
      type: 'upload_registered',
      dataset: { name: 'sales' }
    });
    await click(node.querySelector('[aria-label="Delete sales"]'));
    expect(client.datasets).toHaveLength(2);
    const row = node.querySelector<HTMLElement>('[data-name="sales"]')!;
    await click(button(row, 'Delete'));
    expect(client.datasets.map(({ name }) => name)).toEqual(['cities']);
    expect(model.composerState.hasDataset('sales')).toBe(false);
    expect(node.querySelectorAll('[data-testid="da-dataset"]')).toHaveLength(1);
  });

  it('shows a data set that another page registers', async () => {
    const { model, client, emit } = await makePanel();
    await doing(() => model.showDatasets());
    const node = await draw(model, <DatasetsCard />);
    expect(node.textContent).toContain('No data set yet');
    client.datasets = [datasetOf('cities')];
    await emit({ type: 'dataset_registered', dataset: datasetOf('cities') });
    expect(node.textContent).toContain('cities');
  });
});
