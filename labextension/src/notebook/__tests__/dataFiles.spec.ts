import { Contents } from '@jupyterlab/services';

import { findDataFiles } from '../dataFiles';

/** Folders of files, as the contents API gives them; the calls are counted. */
function contentsOf(files: readonly string[]) {
  const asked: string[] = [];
  const get = async (folder: string) => {
    asked.push(folder);
    const inside = files
      .filter(file => file.startsWith(folder ? `${folder}/` : ''))
      .map(file => file.slice(folder ? folder.length + 1 : 0).split('/'));
    const names = [...new Set(inside.map(([name]) => name))];
    const content = names.map(name => ({
      name,
      path: folder ? `${folder}/${name}` : name,
      type: inside.some(parts => parts[0] === name && parts.length > 1)
        ? 'directory'
        : 'file'
    }));
    return { type: 'directory', content } as Contents.IModel;
  };
  return { contents: { get }, asked };
}

describe('data files', () => {
  it('are found in folders too, those near the notebook first', async () => {
    const { contents } = contentsOf([
      'top.csv',
      'notes.md',
      'work/near.parquet',
      'work/deep/far.tsv.gz',
      '.hidden/x.csv'
    ]);
    expect(await findDataFiles(contents, 'work')).toEqual([
      'work/near.parquet',
      'top.csv',
      'work/deep/far.tsv.gz'
    ]);
  });

  it('are looked for in so many folders at most', async () => {
    const { contents, asked } = contentsOf(
      Array.from({ length: 300 }, (_, index) => `f${index}/data.csv`)
    );
    expect((await findDataFiles(contents)).length).toBe(39);
    expect(asked).toHaveLength(40);
  });

  it('of a folder that cannot be read are none', async () => {
    const get = async () => {
      throw new Error('403');
    };
    expect(await findDataFiles({ get })).toEqual([]);
  });
});
