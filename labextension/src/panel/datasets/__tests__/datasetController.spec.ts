import { ApiError } from '../../../api/errors';
import { IUploadOptions } from '../../../api/upload';
import { Attachment, Dataset, Op } from '../../../api/types';
import { DatasetController } from '../datasetController';
import { datasetOf } from './datasetSamples';
import { FakeClient } from '../../__tests__/fakes';

function makeController() {
  const client = new FakeClient();
  const attached: Attachment[] = [];
  const ops: Op[] = [];
  const reported: unknown[] = [];
  const controller = new DatasetController({
    client,
    place: () => ({
      session: async () => 'ses_1',
      attach: attachment => void attached.push(attachment)
    }),
    submit: async op => void ops.push(op),
    detach: ({ name }) => {
      const at = attached.findIndex(each => each.name === name);
      if (at >= 0) {
        attached.splice(at, 1);
      }
    },
    reportError: error => void reported.push(error)
  });
  return { client, controller, attached, ops, reported };
}

function file(name: string, size = 3): File {
  const made = new File(['a,b'], name);
  Object.defineProperty(made, 'size', { value: size });
  return made;
}

/** An upload that goes on until the test ends it, or the user cancels it. */
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

describe('DatasetController', () => {
  it('forgets the reports that were read, and no upload that goes on', async () => {
    const { client, controller } = makeController();
    await controller.upload([file('read.csv')]);
    const later = held(client);
    void controller.upload([file('later.csv')]);
    await settled();
    expect(later).toHaveLength(1);
    controller.forgetReports();
    expect(controller.uploads.current.map(({ name }) => name)).toEqual([
      'later.csv'
    ]);
  });

  it('makes a data set of a file and attaches it', async () => {
    const { controller, attached } = makeController();
    await controller.upload([file('sales.csv')]);
    const [upload] = controller.uploads.current;
    expect(upload).toMatchObject({ stage: 'done', name: 'sales.csv' });
    expect(upload.dataset?.name).toBe('sales');
    expect(attached).toEqual([{ kind: 'dataset', name: 'sales' }]);
  });

  it('shows how far an upload is, in the session that is shown', async () => {
    const { client, controller } = makeController();
    const begun = held(client);
    const done = controller.upload([file('sales.csv')]);
    await settled();
    const [{ options, end }] = begun;
    expect(options.sessionId).toBe('ses_1');
    options.onStep({ stage: 'converting', fraction: 0.5 });
    expect(controller.uploads.current[0]).toMatchObject({
      stage: 'converting',
      fraction: 0.5
    });
    end(datasetOf('sales'));
    await done;
    expect(controller.uploads.current[0].fraction).toBeUndefined();
  });

  it('sends one file after the other', async () => {
    const { client, controller } = makeController();
    const begun = held(client);
    const done = controller.upload([file('a.csv'), file('b.csv')]);
    await settled();
    expect(begun).toHaveLength(1);
    expect(controller.uploads.current.map(({ stage }) => stage)).toEqual([
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
    const { client, controller, attached } = makeController();
    const begun = held(client);
    const done = controller.upload([
      file('a.csv'),
      file('b.csv'),
      file('c.csv')
    ]);
    await settled();
    const [first, second] = controller.uploads.current;
    controller.cancel(first.id);
    controller.cancel(second.id);
    await settled();
    expect(begun[0].options.signal.aborted).toBe(true);
    expect(begun[1].options.file.name).toBe('c.csv');
    begun[1].end(datasetOf('c'));
    await done;
    expect(controller.uploads.current.map(({ name }) => name)).toEqual([
      'c.csv'
    ]);
    expect(attached).toEqual([{ kind: 'dataset', name: 'c' }]);
  });

  it('says what is wrong with a file', async () => {
    const { client, controller, attached } = makeController();
    client.uploading = async () => {
      throw new ApiError('invalid_request', 'x.csv is a PNG picture.');
    };
    await controller.upload([file('x.csv')]);
    expect(controller.uploads.current[0]).toMatchObject({
      stage: 'failed',
      problem: 'x.csv is a PNG picture.'
    });
    expect(attached).toEqual([]);
  });

  it('sends no file that is larger than the server takes', async () => {
    const { client, controller } = makeController();
    client.limit = 1000;
    const begun = held(client);
    await controller.upload([file('big.csv', 2_500_000)]);
    expect(begun).toEqual([]);
    expect(controller.uploads.current[0].problem).toBe(
      'big.csv is too large (2.5\u00a0MB, limit 1\u00a0kB).'
    );
  });

  it('makes a data set that is attached known to the conversation', async () => {
    const { controller, attached, ops } = makeController();
    await controller.attach(datasetOf('old'));
    expect(ops).toEqual([
      { type: 'upload_registered', dataset: { name: 'old' } }
    ]);
    expect(attached).toEqual([{ kind: 'dataset', name: 'old' }]);
  });

  it('takes a data set that is deleted from the message', async () => {
    const { controller, attached, client } = makeController();
    await controller.upload([file('sales.csv')]);
    await controller.remove(datasetOf('sales'));
    expect(client.datasets).toEqual([]);
    expect(controller.known.current.list).toEqual([]);
    expect(attached).toEqual([]);
    expect(controller.uploads.current).toEqual([]);
  });
});
