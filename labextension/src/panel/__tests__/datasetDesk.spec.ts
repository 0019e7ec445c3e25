import { ApiError } from '../../api/errors';
import { IUploadOptions } from '../../api/upload';
import { Attachment, Dataset, Op } from '../../api/types';
import { DatasetDesk } from '../datasetDesk';
import { datasetOf } from './datasetSamples';
import { FakeClient } from './fakes';

function makeDesk() {
  const client = new FakeClient();
  const attached: Attachment[] = [];
  const ops: Op[] = [];
  const told: unknown[] = [];
  const desk = new DatasetDesk({
    client,
    ensureSession: async () => 'ses_1',
    order: async op => void ops.push(op),
    attach: attachment => void attached.push(attachment),
    detach: ({ name }) => {
      const at = attached.findIndex(each => each.name === name);
      if (at >= 0) {
        attached.splice(at, 1);
      }
    },
    tell: error => void told.push(error)
  });
  return { client, desk, attached, ops, told };
}

function file(name: string, size = 3): File {
  const made = new File(['a,b'], name);
  Object.defineProperty(made, 'size', { value: size });
  return made;
}

/** An upload that goes on until the test ends it, or the person cancels it. */
function held(client: FakeClient) {
  const begun: {
    options: IUploadOptions;
    end: (dataset: Dataset) => void;
  }[] = [];
  client.uploading = options =>
    new Promise((resolve, reject) => {
      begun.push({ options, end: resolve });
      options.signal.addEventListener('abort', () =>
        reject(new DOMException('Cancelled', 'AbortError'))
      );
    });
  return begun;
}

const settled = () => new Promise(resolve => setTimeout(resolve));

describe('DatasetDesk', () => {
  it('forgets the reports that were read, and no upload that goes on', async () => {
    const { client, desk } = makeDesk();
    await desk.upload([file('read.csv')]);
    const later = held(client);
    void desk.upload([file('later.csv')]);
    await settled();
    expect(later).toHaveLength(1);
    desk.forgetReports();
    expect(desk.uploads.current.map(({ name }) => name)).toEqual(['later.csv']);
  });

  it('makes a data set of a file and attaches it', async () => {
    const { desk, attached } = makeDesk();
    await desk.upload([file('sales.csv')]);
    const [upload] = desk.uploads.current;
    expect(upload).toMatchObject({ stage: 'done', name: 'sales.csv' });
    expect(upload.dataset?.name).toBe('sales');
    expect(attached).toEqual([{ kind: 'dataset', name: 'sales' }]);
  });

  it('tells how far an upload is, in the session that is shown', async () => {
    const { client, desk } = makeDesk();
    const begun = held(client);
    const done = desk.upload([file('sales.csv')]);
    await settled();
    const [{ options, end }] = begun;
    expect(options.sessionId).toBe('ses_1');
    options.onStep({ stage: 'converting', fraction: 0.5 });
    expect(desk.uploads.current[0]).toMatchObject({
      stage: 'converting',
      fraction: 0.5
    });
    end(datasetOf('sales'));
    await done;
    expect(desk.uploads.current[0].fraction).toBeUndefined();
  });

  it('sends one file after the other', async () => {
    const { client, desk } = makeDesk();
    const begun = held(client);
    const done = desk.upload([file('a.csv'), file('b.csv')]);
    await settled();
    expect(begun).toHaveLength(1);
    expect(desk.uploads.current.map(({ stage }) => stage)).toEqual([
      'sending',
      'queued'
    ]);
    begun[0].end(datasetOf('a'));
    await settled();
    expect(begun).toHaveLength(2);
    begun[1].end(datasetOf('b'));
    await done;
  });

  it('stops an upload that is cancelled, and goes on with the next', async () => {
    const { client, desk, attached } = makeDesk();
    const begun = held(client);
    const done = desk.upload([file('a.csv'), file('b.csv'), file('c.csv')]);
    await settled();
    const [first, second] = desk.uploads.current;
    desk.cancel(first.id);
    desk.cancel(second.id);
    await settled();
    expect(begun[0].options.signal.aborted).toBe(true);
    expect(begun[1].options.file.name).toBe('c.csv');
    begun[1].end(datasetOf('c'));
    await done;
    expect(desk.uploads.current.map(({ name }) => name)).toEqual(['c.csv']);
    expect(attached).toEqual([{ kind: 'dataset', name: 'c' }]);
  });

  it('says what is wrong with a file', async () => {
    const { client, desk, attached } = makeDesk();
    client.uploading = async () => {
      throw new ApiError('invalid_request', 'x.csv is a PNG picture.');
    };
    await desk.upload([file('x.csv')]);
    expect(desk.uploads.current[0]).toMatchObject({
      stage: 'failed',
      problem: 'x.csv is a PNG picture.'
    });
    expect(attached).toEqual([]);
  });

  it('sends no file that is larger than the server takes', async () => {
    const { client, desk } = makeDesk();
    client.limit = 1000;
    const begun = held(client);
    await desk.upload([file('big.csv', 2_500_000)]);
    expect(begun).toEqual([]);
    expect(desk.uploads.current[0].problem).toBe(
      'big.csv has 2.5\u00a0MB; up to 1\u00a0kB may be uploaded here.'
    );
  });

  it('makes a data set that is attached known to the conversation', async () => {
    const { desk, attached, ops } = makeDesk();
    await desk.attach(datasetOf('old'));
    expect(ops).toEqual([
      { type: 'upload_registered', dataset: { name: 'old' } }
    ]);
    expect(attached).toEqual([{ kind: 'dataset', name: 'old' }]);
  });

  it('takes a data set that is deleted from the message', async () => {
    const { desk, attached, client } = makeDesk();
    await desk.upload([file('sales.csv')]);
    await desk.remove(datasetOf('sales'));
    expect(client.datasets).toEqual([]);
    expect(desk.known.current.list).toEqual([]);
    expect(attached).toEqual([]);
    expect(desk.uploads.current).toEqual([]);
  });
});
