import type { Contents } from '@jupyterlab/services';

import { dateSaves, followRename } from '../renames';
import { code, IOpenNotebook, open } from './support';

let notebook: IOpenNotebook;

beforeEach(async () => {
  notebook = await open([code('a', '1')]);
});

afterEach(() => notebook.close());

function follow(oldPath: string, path: string): void {
  const { context } = notebook.panel;
  followRename(
    { type: 'file_renamed', oldPath, path, renamesKnownUntil: 1 },
    {
      contexts: () => [context],
      pathOf: ({ localPath }) => localPath.replace(/^\/+/, '')
    },
    notebook.contents
  );
}

describe('a document that another page renamed', () => {
  it('has its new path at once, and is as unsaved as it was', () => {
    const { context } = notebook.panel;
    const changed = jest.fn();
    context.fileChanged.connect(changed);
    context.model.dirty = true;
    follow(context.path, 'sub/other.ipynb');
    expect(context.path).toBe('sub/other.ipynb');
    expect(context.contentsModel?.path).toBe('sub/other.ipynb');
    expect(context.contentsModel?.name).toBe('other.ipynb');
    expect(context.model.dirty).toBe(true);
    // JupyterLab would take it for another version of the file.
    expect(changed).not.toHaveBeenCalled();
  });

  it('follows a folder whose name means something in a regular expression', () => {
    const { context } = notebook.panel;
    follow(context.path, 'a (1)+/x.ipynb');
    follow('a (1)+', 'b');
    expect(context.path).toBe('b/x.ipynb');
  });

  it('is another one than that whose name begins in the same way', () => {
    const { context } = notebook.panel;
    const { path } = context;
    follow(path.slice(0, -1), 'b');
    expect(context.path).toBe(path);
  });
});

describe('a save', () => {
  it('says until when the page knows of renames, once it does', async () => {
    const saved: unknown[] = [];
    const contents = {
      driveName: (path: string) => (path.startsWith('RTC:') ? 'RTC' : ''),
      save: async (path: string, options: object) => {
        saved.push([path, options]);
      }
    } as unknown as Contents.IManager;
    const times: (number | undefined)[] = [undefined];
    dateSaves(contents, () => times[0]);
    const options = { type: 'notebook' } as const;
    await contents.save('a.ipynb', options);
    times[0] = 7;
    await contents.save('a.ipynb', options);
    await contents.save('RTC:a.ipynb', options);
    expect(saved).toEqual([
      ['a.ipynb', options],
      ['a.ipynb', { ...options, renamesKnownUntil: 7 }],
      ['RTC:a.ipynb', options]
    ]);
  });
});
