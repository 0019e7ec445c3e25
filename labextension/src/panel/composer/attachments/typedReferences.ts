import { PathExt } from '@jupyterlab/coreutils';

import { Attachment } from '../../../api/types';
import { mentionsIn, References } from './references';

/** What a message that is sent refers to in words that nobody completed. */
export interface ITyped {
  attachments: readonly Attachment[];
  /** References that name nothing, each with why. */
  nothing: readonly string[];
}

/** Of a message that nobody wrote. */
export const NOTHING_TYPED: ITyped = { attachments: [], nothing: [] };

/** What looks like a path: it has a folder, or a file's ending (`@pytest.fixture` has none). The server attaches the file. */
const PATH =
  /^[^@:"]*(\/[^@:"]*|\.(csv|tsv|jsonl?|ipynb|py|r|jl|sql|md|txt|parquet|xlsx?|ya?ml|toml|html?|pdf|png|jpe?g|log))$/i;

const KINDS = /^(cell|output|var|data):(\w.*)$/i;

/**
 * What `@cell:3`, `@output:3`, `@var:x` and `@data:x` in a message name. Paths are attached by the
 * server, which finds them in any message; it reports those that lead nowhere.
 */
export async function typedIn(
  message: string,
  references: References,
  /** Only what a blank follows: the rest is being typed. */
  isWhole = false
): Promise<ITyped> {
  const mentions = [...new Set(mentionsIn(message, isWhole))].filter(
    mention => !references.completed.has(mention)
  );
  // All at once, so that each is looked up in the notebook that is active now.
  const found = await Promise.all(
    mentions.map(mention => lookUp(mention, references))
  );
  const attachments: Attachment[] = [];
  const nothing: string[] = [];
  for (const [index, each] of found.entries()) {
    if (typeof each === 'string') {
      nothing.push(`@${mentions[index]} (${each})`);
    } else if (each) {
      attachments.push(each);
    }
  }
  return { attachments, nothing };
}

/** What a mention attaches, why it names nothing, or null where it is for the server to find. */
async function lookUp(
  mention: string,
  references: References
): Promise<Attachment | string | null> {
  const [, kind, name] = KINDS.exec(mention) ?? [];
  if (kind) {
    return meant(kind.toLowerCase(), name, references);
  }
  return (await isNoFile(mention, references)) ? 'file not found' : null;
}

async function isNoFile(
  mention: string,
  { isThere }: References
): Promise<boolean> {
  return PATH.test(mention) && (await isThere(mention)) === false;
}

/** What is to be attached, or why there is nothing. */
async function meant(
  kind: string,
  name: string,
  references: References
): Promise<Attachment | string> {
  if (kind === 'data') {
    const found = (await references.datasets()).find(
      ({ attachment }) => attachment?.name === name
    );
    return found?.attachment ?? 'data set not found';
  }
  const { notebook } = references;
  if (!notebook) {
    return 'no active notebook';
  }
  const title = PathExt.basename(notebook);
  if (kind === 'var') {
    const [variable] = /^\w+/.exec(name) ?? [name];
    return (
      (await references.variable(notebook, variable)) ??
      `no such variable in the kernel of ${title}`
    );
  }
  const number = parseInt(name, 10);
  const isIt = ({ mention }: { mention: string }) =>
    mention === `${kind}:${number}`;
  const cells = references.cells();
  if (kind === 'output') {
    const found = references.outputs().find(isIt);
    return (
      found?.attachment ??
      (number >= 1 && number <= cells.length
        ? `cell ${number} has no output`
        : `${title} has ${count(cells.length)}`)
    );
  }
  return cells.find(isIt)?.attachment ?? `${title} has ${count(cells.length)}`;
}

function count(cells: number): string {
  return cells === 1 ? '1 cell' : `${cells} cells`;
}
