import {
  $getRoot,
  $isElementNode,
  $parseSerializedNode,
  LexicalEditor,
  LexicalNode,
  NodeKey,
  SerializedLexicalNode
} from 'lexical';

import { INode } from '../document';
import { KeptNode } from './kept';

const LINES = new Set(['paragraph', 'heading', 'quote', 'listitem']);
const INLINE = new Set(['text', 'linebreak', 'tab', 'link', 'autolink']);
/** What Lexical notes of a paragraph when the cursor is put into it. */
const OF_CURSOR = ['textFormat', 'textStyle'];

interface IOrigin {
  /** As it is in the document. */
  readonly json: INode;
  /** As Lexical printed it before anything was changed. */
  readonly printed: INode;
}

/**
 * A block in an editor of Lexical. What is not changed there is printed as it is in the
 * document: nodes and keys that Lexical does not know, the order of keys, defaults that it omits.
 */
export class BlockState {
  constructor(
    private readonly _editor: LexicalEditor,
    private readonly _block: INode
  ) {}

  /** Whether such a block can be edited without a loss, going by its types. */
  static takes(block: INode): boolean {
    return takesBlock(block);
  }

  /** Put the block into the editor; false where Lexical made something else of it. */
  load(): boolean {
    const { _editor: editor, _block: block } = this;
    editor.update(
      () => {
        const node = $parseSerializedNode(
          withKept(block) as unknown as SerializedLexicalNode
        );
        $getRoot().clear().append(node);
      },
      { discrete: true, tag: 'history-merge' }
    );
    this._origins.clear();
    return editor.read(() => {
      const [node, ...others] = $getRoot().getChildren();
      return !others.length && !!node && this._note(node, block);
    });
  }

  /** The blocks that the editor holds now. */
  blocks(): INode[] {
    return this._editor.read(() =>
      $getRoot()
        .getChildren()
        .map(node => this._print(node))
    );
  }

  /** Whether the blocks say anything else than the one that was loaded. */
  isChanged(blocks: readonly INode[]): boolean {
    const [only, ...others] = blocks;
    return (
      others.length > 0 ||
      JSON.stringify(withoutCursor(only)) !==
        JSON.stringify(withoutCursor(this._block))
    );
  }

  private _note(node: LexicalNode, json: INode): boolean {
    if (node instanceof KeptNode) {
      return node.kept === json;
    }
    if (node.getType() !== json.type) {
      return false;
    }
    const printed = node.exportJSON() as unknown as INode;
    this._origins.set(node.getKey(), { json, printed });
    if (!$isElementNode(node)) {
      // Lexical joins texts of the same format.
      return printed.text === json.text;
    }
    const children = node.getChildren();
    const wanted = json.children ?? [];
    return (
      children.length === wanted.length &&
      children.every((child, index) => this._note(child, wanted[index]))
    );
  }

  private _print(node: LexicalNode): INode {
    if (node instanceof KeptNode) {
      return node.kept;
    }
    const now = node.exportJSON() as unknown as INode;
    const origin = this._origins.get(node.getKey());
    const isSame = origin?.json.type === now.type;
    const own = origin && isSame ? merged(now, origin) : now;
    return $isElementNode(node)
      ? { ...own, children: node.getChildren().map(each => this._print(each)) }
      : own;
  }

  private readonly _origins = new Map<NodeKey, IOrigin>();
}

/** The node as it is in the document, with what has another value than before. */
function merged(now: INode, { json, printed }: IOrigin): INode {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(json)) {
    const isSame = key === 'children' || isEqual(now[key], printed[key]);
    if (isSame) {
      result[key] = json[key];
    } else if (now[key] !== undefined) {
      result[key] = now[key];
    }
  }
  for (const key of Object.keys(now)) {
    if (!(key in json) && !isEqual(now[key], printed[key])) {
      result[key] = now[key];
    }
  }
  return result as INode;
}

function takesBlock(block: INode): boolean {
  const children = block.children ?? [];
  return block.type === 'list'
    ? children.every(item => item.type === 'listitem' && takesItem(item))
    : LINES.has(block.type) && children.every(isInline);
}

function takesItem(item: INode): boolean {
  return (item.children ?? []).every(child =>
    child.type === 'list' ? takesBlock(child) : isInline(child)
  );
}

/** Text, a link of text, or a node without children, which is kept as it is. */
function isInline(node: INode): boolean {
  return node.type === 'link' || node.type === 'autolink'
    ? (node.children ?? []).every(isInline)
    : INLINE.has(node.type) || !node.children;
}

function withKept(node: INode): INode {
  return {
    ...node,
    ...(node.children && {
      children: node.children.map(child =>
        INLINE.has(child.type) || child.type === 'list' || LINES.has(child.type)
          ? withKept(child)
          : { type: 'da-kept', version: 1, node: child }
      )
    })
  };
}

function withoutCursor(node: INode): INode {
  return Object.fromEntries(
    Object.entries(node).filter(([key]) => !OF_CURSOR.includes(key))
  ) as INode;
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
