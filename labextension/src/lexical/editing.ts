import { Notification } from '@jupyterlab/apputils';

import { BlockChanges, IServerBlock } from './blockChanges';
import { IBlockEditor } from './blockEditor';
import { Contest } from './contest';
import { INode, isSame } from './document';
import { button } from './elements';

/** Where an editor stands: in place of the content of a block. */
export interface IEditingPlace {
  readonly content: HTMLElement;
}

/** What one editing of a block needs. */
export interface IEditingOptions {
  readonly block: IServerBlock;
  readonly editor: IBlockEditor;
  readonly changes: BlockChanges;
  /** A version of the block, as elements. */
  readonly render: (node: INode) => HTMLElement;
  /** Show the block again in place of the editor. */
  readonly onClosed: (editing: Editing) => void;
  /** Edit on, after the user left the editor. */
  readonly reopen: (editing: Editing) => void;
  readonly run?: () => Promise<void>;
  /** Edit the Markdown of the block instead, where this is not its source. */
  readonly editSource?: () => Promise<void>;
}

/**
 * A block that the user edits. Ctrl+Enter saves, Escape leaves. Where the block was changed by
 * somebody else meanwhile, nothing is saved until the user has chosen between both.
 */
export class Editing {
  constructor(private readonly _options: IEditingOptions) {
    const { editor, editSource, block } = _options;
    this._base = block;
    const bar = document.createElement('div');
    bar.className = 'da-lex-editing';
    this._bar = bar;
    bar.append(
      button('Save', 'Save (Ctrl+Enter)', () => this.save()),
      button('Cancel', 'Cancel (Escape)', () => this.leave())
    );
    if (editSource) {
      bar.append(
        button('Markdown', 'Save, and edit the Markdown', async () => {
          if (await this.save()) {
            await editSource();
          }
        })
      );
    }
    this.node.append(editor.node, bar);
    this.node.addEventListener('keydown', this._onKey, true);
  }

  readonly node = document.createElement('div');

  /** The block as it was when the user began, or last chose to replace it. */
  get base(): INode | undefined {
    return this._base.node;
  }

  /** The block as it is now; where it is gone, what the user wrote is added as a new one. */
  async readOrAdd(): Promise<IServerBlock | null> {
    const { changes, editor, block } = this._options;
    const now = await changes.readAgain(this._base.id);
    if (now === 'gone') {
      await changes.add(block.index, block.node!.type, editor.value);
      return null;
    }
    return now;
  }

  /** Show the editor in place of a block. */
  open({ content }: IEditingPlace): void {
    content.replaceChildren(this.node);
    this._options.editor.focus();
  }

  focus(): void {
    this._options.editor.focus();
  }

  /** The block is this now; null where it is gone. */
  noteChanged(node: INode | null): void {
    const isOld = node && this.base && isSame(node, this.base);
    if (isOld || this._isSaving) {
      this._settle();
    } else if (!this._contest || !this._isOther(node)) {
      this._contest?.node.remove();
      this._other = node;
      this._contest = new Contest(
        node && this._options.render(node),
        () => this._keepMine(),
        () => this.leave()
      );
      this.node.append(this._contest.node);
      this._bar.hidden = true;
    }
  }

  /** Save and close, unless the block was changed meanwhile; whether that was done. */
  async save(): Promise<boolean> {
    const { editor, changes } = this._options;
    if (this._contest) {
      this._contest.focus();
      return false;
    }
    if (!editor.isChanged) {
      this._close();
      return true;
    }
    if (this._isSaving) {
      return false;
    }
    this._isSaving = true;
    let isSaved = false;
    try {
      const now = await changes.readAgain(this._base.id);
      if (now === 'gone' || (now?.node && !this._isBase(now.node))) {
        this._isSaving = false;
        this.noteChanged(now === 'gone' ? null : now.node!);
        return false;
      }
      isSaved = now !== null && (await changes.update(now, editor.value));
    } finally {
      this._isSaving = false;
    }
    if (isSaved) {
      this._isSaved = true;
      this._close();
    }
    return isSaved;
  }

  /** Whether the block is now what the user wrote. */
  get isSaved(): boolean {
    return this._isSaved;
  }

  /** Close without saving; what was written can be had back for a moment. */
  leave(): void {
    const { editor, reopen } = this._options;
    const isLost = editor.isChanged;
    this._close(!isLost);
    if (isLost) {
      Notification.emit('Your changes of a block were not saved.', 'default', {
        autoClose: 15000,
        actions: [{ label: 'Edit On', callback: () => reopen(this) }]
      });
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._options.editor.dispose();
    }
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  private async _keepMine(): Promise<void> {
    const { editor, changes, block } = this._options;
    const now = await changes.readAgain(this._base.id);
    if (now === 'gone') {
      if (await changes.add(block.index, block.node!.type, editor.value)) {
        this._close();
      }
    } else if (now?.node && !this._isOther(now.node)) {
      // Changed once more: that is to be seen first.
      this.noteChanged(now.node);
    } else if (now) {
      this._base = now;
      this._settle();
      await this.save();
    }
  }

  private _isBase(node: INode): boolean {
    return this.base !== undefined && isSame(node, this.base);
  }

  private _isOther(node: INode | null): boolean {
    return node && this._other
      ? isSame(node, this._other)
      : node === this._other;
  }

  private _settle(): void {
    this._contest?.node.remove();
    this._contest = null;
    this._bar.hidden = false;
  }

  private _close(isOver = true): void {
    this._options.onClosed(this);
    if (isOver) {
      this.dispose();
    }
  }

  private readonly _onKey = (event: KeyboardEvent): void => {
    const isSave = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    const isRun = event.key === 'Enter' && event.shiftKey && this._options.run;
    if (event.target instanceof HTMLInputElement) {
      return; // The address of a link: its keys are its own.
    }
    const isOfBar = this._bar.contains(event.target as Node);
    if (event.key === 'Escape' && !event.defaultPrevented) {
      event.preventDefault();
      event.stopPropagation();
      this.leave();
    } else if ((isSave || isRun) && !isOfBar) {
      event.preventDefault();
      event.stopPropagation();
      void this.save().then(isSaved =>
        isSaved && isRun ? this._options.run?.() : undefined
      );
    }
  };

  private readonly _bar: HTMLElement;
  private _base: IServerBlock;
  private _other: INode | null = null;
  private _contest: Contest | null = null;
  private _isSaving = false;
  private _isSaved = false;
  private _isDisposed = false;
}
