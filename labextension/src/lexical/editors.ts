import { IEditorServices } from '@jupyterlab/codeeditor';

import { BlockChanges } from './blockChanges';
import { IBlockEditor } from './blockEditor';
import { INode, INPUT, isText } from './document';
import { Editing } from './editing';
import { IRendering, renderInline } from './render';
import { ShownBlock } from './shownBlock';
import { SourceEditor } from './sourceEditor';

/** What editing needs of the view. */
export interface IEditorsOptions {
  readonly changes: BlockChanges;
  readonly editors: IEditorServices;
  readonly rendering: IRendering;
  readonly run: (shown: ShownBlock) => Promise<void>;
  /** Show changes of the document that are not shown yet; they may come from the editor itself. */
  readonly catchUp: (isSaved: boolean) => void;
  readonly onClosed: (shown: ShownBlock) => void;
  readonly shownAt: (index: number) => ShownBlock | null;
}

/** The editor of the document: one block at a time, text in Lexical, all else as source. */
export class Editors {
  constructor(private readonly _options: IEditorsOptions) {}

  /** The block that is edited. */
  get edited(): ShownBlock | null {
    return this._edited;
  }

  dispose(): void {
    this._isDisposed = true;
    this._editing?.dispose();
    this._left?.dispose();
  }

  /** The block that is edited is this now; null where it is gone. */
  noteChanged(node: INode | null): void {
    this._editing?.noteChanged(node);
  }

  /** Edit a block, or go to the editor that is open. */
  async open(shown: ShownBlock, asSource = false): Promise<void> {
    const { changes, rendering, run } = this._options;
    if (this._editing || this._isOpening) {
      this._editing?.focus();
      return;
    }
    this._isOpening = true;
    try {
      const block = await changes.read(shown.block);
      if (!block || this._isDisposed) {
        return;
      }
      const { node } = shown.block;
      const rich = asSource ? null : await richEditor(node, rendering);
      if (this._isDisposed) {
        rich?.dispose();
        return;
      }
      const editing: Editing = new Editing({
        block: { ...block, node },
        editor: rich ?? this._source(node, block.content),
        changes,
        render: other => shown.render(other),
        onClosed: () => this._onClosed(editing),
        reopen: () => void this._reopen(editing),
        run: node.type === INPUT ? () => run(shown) : undefined,
        editSource: rich ? () => this.open(shown, true) : undefined
      });
      this._show(editing, shown);
    } finally {
      this._isOpening = false;
    }
  }

  private _show(editing: Editing, shown: ShownBlock): void {
    if (this._left !== editing) {
      this._left?.dispose();
    }
    this._left = null;
    this._editing = editing;
    this._edited = shown;
    shown.isEdited = true;
    shown.element.classList.add('da-mod-edited');
    editing.open(shown);
  }

  private _source(node: INode, content: string): SourceEditor {
    const { factoryService } = this._options.editors;
    const mimeType =
      node.type === INPUT ? 'text/x-python' : 'text/x-ipythongfm';
    return new SourceEditor(content, mimeType, options =>
      factoryService.newInlineEditor(options)
    );
  }

  private _onClosed(editing: Editing): void {
    const shown = this._edited;
    this._editing = null;
    this._left = editing;
    if (!this._isDisposed) {
      // What was saved is shown in this block, and not in a new one: it keeps the focus, and may be
      // edited on as Markdown.
      this._options.catchUp(editing.isSaved);
    }
    this._edited = null;
    if (shown && !this._isDisposed) {
      shown.isEdited = false;
      shown.element.classList.remove('da-mod-edited');
      this._options.onClosed(shown);
    }
  }

  /** What the user left goes on, in place of what its block is now; or as a block of its own. */
  private async _reopen(editing: Editing): Promise<void> {
    const now = await editing.readOrAdd();
    const shown = now && this._options.shownAt(now.index);
    if (shown && !editing.isDisposed && !this._editing) {
      this._show(editing, shown);
      editing.noteChanged(shown.block.node);
    }
  }

  private _editing: Editing | null = null;
  private _edited: ShownBlock | null = null;
  /** What the user left without saving, and may have back. */
  private _left: Editing | null = null;
  private _isOpening = false;
  private _isDisposed = false;
}

/** Lexical's own editor, whose code is loaded with the first; null where it cannot take the block. */
async function richEditor(
  node: INode,
  rendering: IRendering
): Promise<IBlockEditor | null> {
  if (!isText(node)) {
    return null;
  }
  try {
    const { RichEditor } = await import('./rich/richEditor');
    return RichEditor.of(node, kept => renderInline(kept, rendering));
  } catch (error) {
    // The Markdown can be edited all the same.
    console.warn('datalayer-agent: Lexical was not loaded', error);
    return null;
  }
}
