import { Context, IDocumentWidget } from '@jupyterlab/docregistry';
import { YFile } from '@jupyter/ydoc';

import { hashSource } from '../edits/hash';
import { writeText } from '../writeText';

/** An open text file over a real shared document. */
function open(
  text: string,
  options: { dirty?: boolean; readOnly?: boolean; newer?: boolean } = {}
) {
  const sharedModel = new YFile();
  sharedModel.setSource(text);
  sharedModel.clearUndoHistory();
  const save = jest.fn(() => Promise.resolve());
  const context = {
    path: 'a.txt',
    contentsModel: { last_modified: '2026-01-01T00:00:00Z', writable: true },
    model: {
      sharedModel,
      toString: () => sharedModel.getSource(),
      dirty: options.dirty ?? false,
      readOnly: options.readOnly ?? false,
      collaborative: false
    }
  } as unknown as Context<never>;
  const year = options.newer ? 2027 : 2026;
  const contents = {
    get: () =>
      Promise.resolve({ last_modified: `${year}-01-01T00:00:00Z` } as never)
  };
  const write = (base: string, content: string) =>
    writeText(
      { context } as unknown as IDocumentWidget,
      hashSource(base),
      content,
      { save },
      contents
    );
  return { sharedModel, save, write };
}

describe('writing an open text file', () => {
  it('changes it in place, as one step of its undo, and saves it', async () => {
    const { sharedModel, save, write } = open('one\ntwo\nthree\n');
    sharedModel.updateSource(0, 0, 'zero\n');
    await write('zero\none\ntwo\nthree\n', 'zero\none\n2\nthree\n');
    expect(sharedModel.getSource()).toBe('zero\none\n2\nthree\n');
    expect(save).toHaveBeenCalledTimes(1);
    sharedModel.undo();
    expect(sharedModel.getSource()).toBe('zero\none\ntwo\nthree\n');
  });

  it('refuses a text that changed meanwhile', async () => {
    const { sharedModel, save, write } = open('typed');
    await expect(write('one', 'two')).rejects.toMatchObject({ code: 'stale' });
    expect(sharedModel.getSource()).toBe('typed');
    expect(save).not.toHaveBeenCalled();
  });

  it.each([
    [{ readOnly: true }, 'read-only'],
    [{ dirty: true, newer: true }, 'changed on the disk as well']
  ])('changes nothing of what could not be saved: %o', async (how, said) => {
    const { sharedModel, write } = open('one', how);
    await expect(write('one', 'two')).rejects.toThrow(said);
    expect(sharedModel.getSource()).toBe('one');
  });
});
