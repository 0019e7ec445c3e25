import { reloadIfNewer } from '../reload';
import { code, IOpenNotebook, open } from './support';

let notebook: IOpenNotebook;
let reverted: jest.SpyInstance;

beforeEach(async () => {
  notebook = await open([code('a', '1')]);
  await notebook.panel.context.save();
  reverted = jest
    .spyOn(notebook.panel.context, 'revert')
    .mockImplementation(async () => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
  notebook.close();
});

/** Look at a file that was written so many ms after the notebook knew of it. */
async function look(later: number): Promise<void> {
  const { panel } = notebook;
  const known = panel.context.contentsModel!;
  const at = new Date(Date.parse(known.last_modified) + later).toISOString();
  const get = async () => ({ ...known, last_modified: at, content: null });
  await reloadIfNewer(panel, { get } as Parameters<typeof reloadIfNewer>[1]);
}

it('loads a notebook anew whose file was written since', async () => {
  await look(1);
  expect(reverted).toHaveBeenCalledTimes(1);
});

it.each([0, -1000])(
  'leaves one alone whose file is %i ms newer',
  async later => {
    await look(later);
    expect(reverted).not.toHaveBeenCalled();
  }
);

it('leaves one alone that was saved while its file was looked at', async () => {
  const { panel } = notebook;
  const known = panel.context.contentsModel!;
  await reloadIfNewer(panel, {
    get: async () => {
      await new Promise(resolve => setTimeout(resolve, 5));
      await panel.context.save();
      return { ...known, last_modified: '2100-01-01T00:00:00Z', content: null };
    }
  });
  expect(reverted).not.toHaveBeenCalled();
});

it('leaves one alone in which something was changed', async () => {
  const { panel } = notebook;
  panel.model!.sharedModel.cells[0].setSource('mine');
  await look(1);
  expect(reverted).not.toHaveBeenCalled();
  expect(notebook.source('a')).toBe('mine');
});

it('takes no keys while the file is on its way, nor after a failure for ever', async () => {
  const { node } = notebook.panel.content;
  const seen: boolean[] = [];
  reverted.mockImplementation(async () => {
    seen.push(node.inert);
    throw new Error('No connection');
  });
  await look(1);
  expect(seen).toEqual([true]);
  expect(node.inert).toBe(false);
});

it('leaves to the save what is wrong with the file', async () => {
  const get = async () => Promise.reject(new Error('Not found'));
  await reloadIfNewer(notebook.panel, { get });
  expect(reverted).not.toHaveBeenCalled();
});
