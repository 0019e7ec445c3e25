import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { DocumentWidget } from '@jupyterlab/docregistry';
import { FileEditor } from '@jupyterlab/fileeditor';
import { ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { ProposalTarget } from '../proposals';
import { IN_FILE, IOpenChat } from './openChats';
import { EditorSlot } from './slots';
import { IInlineTarget, ISlot, Place } from './target';
import { writeInto } from './write';

/** What the box's padding and border take of its height, in pixels. */
const FRAME = 12;

/** A text file that is open in an editor, with an inline chat above it. */
export class FileTarget implements IInlineTarget {
  constructor(
    private readonly _document: DocumentWidget<FileEditor>,
    path: string
  ) {
    this.path = path;
    _document.disposed.connect(this._onGone, this);
  }

  readonly placeholder = 'Ask, or say what to change in this file';

  readonly spot = IN_FILE;

  get isLeft(): boolean {
    return this._document.isDisposed;
  }

  get base(): string {
    return this._base;
  }

  get obstacle(): string | null {
    const { model, contentsModel } = this._document.context;
    return model.readOnly || contentsModel?.writable === false
      ? 'This file is read-only.'
      : null;
  }

  get gone(): ISignal<this, void> {
    return this._gone;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._document.disposed.disconnect(this._onGone, this);
      Signal.clearData(this);
    }
  }

  get path(): string {
    return this._path;
  }

  set path(path: string) {
    this._path = path;
    this._names.add(path);
  }

  recall({ base, path }: Pick<IOpenChat, 'base' | 'path'>): void {
    this._base = base;
    this._names.add(path ?? this._path);
  }

  canRun(): boolean {
    return false;
  }

  attach(box: Widget): void {
    box.addClass('da-mod-file');
    this._document.contentHeader.insertWidget(0, box);
    this._giveRoom(box);
  }

  place(): Place {
    const { model, editor } = this._document.content;
    this._base = model.sharedModel.getSource();
    const { start, end } = editor.getSelection();
    const [from, to] = [start, end]
      .map(position => editor.getOffsetAt(position))
      .sort((one, other) => one - other);
    const selection = this._base.slice(from, to);
    return {
      activeNotebook: null,
      attachments: [{ kind: 'file', path: this.path }],
      selection: selection.trim() ? selection : undefined
    };
  }

  slotFor(target: ProposalTarget): Promise<ISlot | null> {
    const { model, editor } = this._document.content;
    const isThis =
      target.kind === 'file' && this._names.has(target.path.replace(/^\//, ''));
    return Promise.resolve(
      isThis && editor instanceof CodeMirrorEditor
        ? new EditorSlot(
            editor,
            this._base,
            hunks => writeInto(model.sharedModel, hunks),
            this._document.content
          )
        : null
    );
  }

  asOneStep(_slots: readonly ISlot[], act: () => void): void {
    act();
  }

  run(): void {
    throw new Error('A file is not run from here.');
  }

  focusBack(): void {
    if (!this._document.isDisposed) {
      this._document.content.editor.focus();
    }
  }

  /** The header gives a widget the height that it says it needs at least. */
  private _giveRoom(box: Widget): void {
    const body = box.node.firstElementChild;
    if (!body) {
      if (!box.isDisposed) {
        requestAnimationFrame(() => this._giveRoom(box));
      }
      return;
    }
    const observer = new ResizeObserver(() => {
      const height = `${Math.ceil(body.getBoundingClientRect().height) + FRAME}px`;
      if (box.node.style.minHeight !== height && !box.isDisposed) {
        box.node.style.minHeight = height;
        box.parent?.fit();
      }
    });
    observer.observe(body);
    box.disposed.connect(() => observer.disconnect());
  }

  private _onGone(): void {
    this._gone.emit();
  }

  private _path = '';
  /** What the file was called while it was asked about. */
  private readonly _names = new Set<string>();
  private _base = '';
  private _isDisposed = false;
  private readonly _gone = new Signal<this, void>(this);
}
