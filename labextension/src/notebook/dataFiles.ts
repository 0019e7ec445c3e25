import { Contents } from '@jupyterlab/services';

/** What the workflows read, by name. */
const DATA = /\.(csv|tsv|tab|parquet|pq)(\.(gz|bz2|xz|zip|zst))?$/i;

/** Folders that are looked into, and files that are listed, at most. */
const MOST_FOLDERS = 40;
const MOST_FILES = 200;

/**
 * Data files under the root: those of the folder `near` first, then by depth.
 *
 * Only so many folders are looked into; what is not found can be typed.
 */
export async function findDataFiles(
  contents: Pick<Contents.IManager, 'get'>,
  near = ''
): Promise<string[]> {
  const found = new Set<string>();
  const queue = near ? [near, ''] : [''];
  const seen = new Set<string>();
  while (queue.length && seen.size < MOST_FOLDERS && found.size < MOST_FILES) {
    const folder = queue.shift()!;
    if (seen.has(folder)) {
      continue;
    }
    seen.add(folder);
    for (const entry of await list(contents, folder)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') {
        continue;
      }
      if (entry.type === 'directory') {
        queue.push(entry.path);
      } else if (DATA.test(entry.name) && found.size < MOST_FILES) {
        found.add(entry.path);
      }
    }
  }
  return [...found];
}

async function list(
  contents: Pick<Contents.IManager, 'get'>,
  folder: string
): Promise<Contents.IModel[]> {
  try {
    const model = await contents.get(folder, { content: true });
    const entries =
      model.type === 'directory' ? (model.content as Contents.IModel[]) : [];
    return [...entries].sort((a, b) => a.name.localeCompare(b.name));
  } catch {
    return []; // Not to be seen, or gone meanwhile.
  }
}
