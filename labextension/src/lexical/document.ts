/** A node of a Lexical editor state. */
export interface INode {
  readonly type: string;
  readonly children?: readonly INode[];
  readonly [key: string]: unknown;
}

/** A child of the root, with the JSON by which it is compared. */
export interface IBlock {
  readonly node: INode;
  readonly key: string;
  readonly outputsKey: string;
  /** Its place among all blocks of the file, outputs too. */
  readonly index: number;
  /** What its code put out, as nbformat has it, where it is code that runs. */
  readonly outputs: readonly unknown[];
  /** The nodes that hold these outputs, which are deleted with it. */
  readonly owned: readonly INode[];
}

export const INPUT = 'jupyter-input';
const OUTPUT = 'jupyter-output';
const UUID = 'jupyterInputNodeUuid';

/** The blocks of a document's text, outputs with the code that they belong to; throws what is wrong. */
export function blocksOf(text: string): IBlock[] {
  const root = (JSON.parse(text) as { root?: INode } | null)?.root;
  if (root?.type !== 'root' || !Array.isArray(root.children)) {
    throw new Error('It has no root of type "root" with a list of children.');
  }
  const children = root.children as readonly INode[];
  const outputs = new Map<unknown, INode[]>();
  const inputs = new Set<unknown>();
  for (const child of children) {
    if (child.type === INPUT) {
      inputs.add(child[UUID]);
    } else if (child.type === OUTPUT) {
      outputs.set(child[UUID], [...(outputs.get(child[UUID]) ?? []), child]);
    }
  }
  return children.flatMap((node, index) => {
    if (node.type === OUTPUT && inputs.has(node[UUID])) {
      return [];
    }
    const owned = node.type === INPUT ? (outputs.get(node[UUID]) ?? []) : [];
    const put = (node.type === OUTPUT ? [node] : owned).flatMap(each =>
      Array.isArray(each.outputs) ? (each.outputs as unknown[]) : []
    );
    const key = JSON.stringify(node);
    const outputsKey = put.length ? JSON.stringify(put) : '';
    return [{ node, index, outputs: put, owned, key, outputsKey }];
  });
}

/** What names a code block to the server. */
export function uuidOf({ node }: IBlock): string | undefined {
  const uuid = node[UUID];
  return node.type === INPUT && typeof uuid === 'string' ? uuid : undefined;
}

/** The code of a code block, or the plain text of any other node. */
export function sourceOf(node: INode): string {
  if (node.type === 'linebreak') {
    return '\n';
  }
  const text = typeof node.text === 'string' ? node.text : '';
  return text + (node.children ?? []).map(sourceOf).join('');
}

/** Its type as users name it: a paragraph with nothing but an image is an image. */
export function kindOf(node: INode): string {
  const [only, ...others] = node.children ?? [];
  return node.type === 'paragraph' && only && !others.length
    ? only.type === 'image' || (only.type === 'equation' && !only.inline)
      ? only.type
      : node.type
    : node.type;
}

/** Whether two nodes are the same, keys in the same order. */
export function isSame(one: INode, other: INode): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether it is text that Lexical's own editor may take: all others are edited as source. */
export function isText(node: INode): boolean {
  return ['paragraph', 'heading', 'quote', 'list'].includes(kindOf(node));
}
