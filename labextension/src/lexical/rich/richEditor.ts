import { $getRoot } from 'lexical';

import { BlockValue, IBlockEditor } from '../blockEditor';
import { INode } from '../document';
import { BlockState } from './blockState';
import { makeLexicalEditor, registerBehaviour } from './lexicalEditor';
import { RichBar } from './richBar';

/** The text of a block in Lexical's own editor, with a bar for its formats. */
export class RichEditor implements IBlockEditor {
  /** An editor of the block; null where Lexical cannot take it without a loss. */
  static of(
    block: INode,
    renderKept: (node: INode) => Node
  ): RichEditor | null {
    if (!BlockState.takes(block)) {
      return null;
    }
    const editor = new RichEditor(block, renderKept);
    if (editor._state.load() && !editor._hasFailed) {
      editor._start();
      return editor;
    }
    return null;
  }

  private constructor(block: INode, renderKept: (node: INode) => Node) {
    this._editor = makeLexicalEditor(renderKept, error => {
      this._hasFailed = true;
      console.warn('datalayer-agent: an editor of Lexical failed', error);
    });
    this._state = new BlockState(this._editor, block);
  }

  readonly node = document.createElement('div');

  get value(): BlockValue {
    return { nodes: this._state.blocks() };
  }

  get isChanged(): boolean {
    return this._state.isChanged(this._state.blocks());
  }

  focus(): void {
    if (this._isUsed) {
      this._editor.focus();
      return;
    }
    this._isUsed = true;
    // At once: the editor's own focus comes so late that a key could come before it.
    this._editor.getRootElement()?.focus();
    this._editor.update(() => void $getRoot().selectEnd(), {
      discrete: true,
      tag: 'history-merge'
    });
  }

  dispose(): void {
    this._end();
    this._editor.setRootElement(null);
  }

  private _start(): void {
    const text = document.createElement('div');
    text.className = 'da-lex-rich-text';
    text.contentEditable = 'true';
    text.dataset.testid = 'da-lexical-rich';
    text.setAttribute('role', 'textbox');
    text.setAttribute('aria-multiline', 'true');
    text.setAttribute('aria-label', 'Text of the block');
    this.node.className = 'da-lex-editor da-lex-rich';
    // Ctrl+B is bold here, and not JupyterLab's sidebar.
    this.node.dataset.lmSuppressShortcuts = 'true';
    const bar = new RichBar(this._editor);
    this.node.append(bar.node, text);
    const end = registerBehaviour(this._editor);
    this._editor.setRootElement(text);
    this._end = () => {
      end();
      bar.dispose();
    };
  }

  private readonly _editor: ReturnType<typeof makeLexicalEditor>;
  private readonly _state: BlockState;
  private _hasFailed = false;
  private _isUsed = false;
  private _end: () => void = () => undefined;
}
