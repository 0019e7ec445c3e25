import type { ILexicalHints } from '../notebook/editor';
import { blocksOf, IBlock, INode } from './document';

/** What in a document's text is worth a suggestion; one that cannot be read is not empty. */
export function lexicalHints(text: string): ILexicalHints {
  let blocks: readonly IBlock[];
  try {
    blocks = blocksOf(text);
  } catch {
    return { isEmpty: !text.trim() };
  }
  const isEmpty = blocks.every(
    ({ node, outputs }) => !outputs.length && isBlank(node)
  );
  return { isEmpty, error: errorIn(blocks) };
}

/** Whether it has no text, and nothing else that is seen: images, equations, lists, rules. */
function isBlank({ type, children, text }: INode): boolean {
  return children
    ? ['paragraph', 'heading', 'jupyter-input'].includes(type) &&
        children.every(isBlank)
    : type === 'linebreak' || (typeof text === 'string' && !text.trim());
}

function errorIn(blocks: readonly IBlock[]): string | undefined {
  for (const output of blocks.flatMap(({ outputs }) => outputs)) {
    const { output_type: type, ename } = output as Record<string, unknown>;
    if (type === 'error') {
      // Some kernels (bash) give no name.
      return String(ename || 'error');
    }
  }
  return undefined;
}
