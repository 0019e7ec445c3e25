import type { ISharedCodeCell } from '@jupyter/ydoc';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';

import { NotebookReloader, reloadIfNewer } from '../reload';
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

describe('a notebook that the server wrote itself', () => {
  const LANGUAGE = { name: 'python', version: '3.11' };
  let reloader: NotebookReloader;

  beforeEach(async () => {
    const { panel, tracker } = notebook;
    const known = panel.context.contentsModel!;
    reloader = new NotebookReloader(tracker, {
      get: async () => ({
        ...known,
        last_modified: '2100-01-01T00:00:00Z',
        content: null
      })
    } as unknown as Contents.IManager);
    await panel.context.ready;
  });

  it('is compared once for all requests, and again where the server wrote it', async () => {
    await reloader.compared(notebook.panel);
    await reloader.compared(notebook.panel);
    expect(reverted).toHaveBeenCalledTimes(1);
    await reloader.compare(notebook.panel);
    expect(reverted).toHaveBeenCalledTimes(2);
  });

  it('is loaded anew where JupyterLab wrote only what its kernel is', async () => {
    const { model } = notebook.panel;
    model!.setMetadata('language_info', LANGUAGE);
    model!.setMetadata('kernelspec', { name: 'python3', display_name: 'P' });
    expect(model!.dirty).toBe(true);
    await reloader.compare(notebook.panel);
    expect(reverted).toHaveBeenCalledTimes(1);
  });

  it.each<[string, (panel: NotebookPanel) => void]>([
    ['a source', ({ model }) => model!.sharedModel.cells[0].setSource('mine')],
    [
      'a new cell',
      ({ model }) => model!.sharedModel.addCell({ cell_type: 'code' })
    ],
    ['a deleted cell', ({ model }) => model!.sharedModel.deleteCell(0)],
    [
      "a cell's outputs",
      ({ model }) =>
        (model!.sharedModel.cells[0] as ISharedCodeCell).setOutputs([
          { output_type: 'stream', name: 'stdout', text: 'mine' }
        ])
    ],
    [
      "a cell's metadata",
      ({ model }) => model!.sharedModel.cells[0].setMetadata('tags', ['mine'])
    ],
    ["the notebook's metadata", ({ model }) => model!.setMetadata('mine', 1)]
  ])('is left alone with %s that is not saved', async (_, change) => {
    const { panel } = notebook;
    panel.model!.setMetadata('language_info', LANGUAGE);
    change(panel);
    await reloader.compare(panel);
    expect(reverted).not.toHaveBeenCalled();
    await panel.context.save();
    panel.model!.setMetadata('language_info', { ...LANGUAGE, version: '3.12' });
    expect(panel.model!.dirty).toBe(true);
    await reloader.compare(panel);
    expect(reverted).toHaveBeenCalledTimes(1);
  });
});
