import {
  DecoratorNode,
  LexicalEditor,
  NodeKey,
  SerializedLexicalNode
} from 'lexical';

import { INode } from '../document';

/** How nodes that Lexical does not know are shown, by editor. */
export const keptRenderers = new WeakMap<
  LexicalEditor,
  (node: INode) => Node
>();

interface ISerializedKept extends SerializedLexicalNode {
  readonly node: INode;
}

/** A node in the midst of text that Lexical does not know: shown, deleted as a whole, never changed. */
export class KeptNode extends DecoratorNode<null> {
  static getType(): string {
    return 'da-kept';
  }

  static clone(node: KeptNode): KeptNode {
    return new KeptNode(node.kept, node.__key);
  }

  static importJSON(json: SerializedLexicalNode): KeptNode {
    return new KeptNode((json as ISerializedKept).node);
  }

  constructor(
    readonly kept: INode = { type: 'text', text: '' },
    key?: NodeKey
  ) {
    super(key);
  }

  createDOM(_: unknown, editor: LexicalEditor): HTMLElement {
    const element = document.createElement('span');
    element.className = 'da-lex-kept';
    element.contentEditable = 'false';
    const shown = keptRenderers.get(editor)?.(this.kept);
    element.append(shown ?? this.kept.type);
    return element;
  }

  updateDOM(): false {
    return false;
  }

  exportJSON(): ISerializedKept {
    return { type: 'da-kept', version: 1, node: this.kept };
  }

  isInline(): true {
    return true;
  }

  getTextContent(): string {
    return '';
  }

  decorate(): null {
    return null;
  }
}
