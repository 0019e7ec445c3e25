import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { DocumentWidget } from '@jupyterlab/docregistry';
import { FileEditor } from '@jupyterlab/fileeditor';
import { ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { languageOfFile, ProposalTarget } from '../proposals';
import { IN_FILE, IOpenChat } from './openChats';
import type { ISubject } from './plain';
import { foundAgain, selectedIn } from './selected';
import { EditorProposalView } from './proposalViews';
import { IInlineTarget, IProposalView, RequestContext } from './target';
import { writeInto } from '../notebook/edits/write';

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

  readonly placeholder = 'Ask or describe a change to this file';

  readonly anchor = IN_FILE;

  get isLeft(): boolean {
    return this._document.isDisposed;
  }

  get subject(): ISubject {
    return {
      target: { kind: 'file', path: this._path },
      name: 'file',
      type: 'code',
      language: languageOfFile(this._path),
      base: this._base,
      selection: this._selection
    };
  }

  readonly insert = null;

  get obstacle(): string | null {
    const { model, contentsModel } = this._document.context;
    return model.readOnly || contentsModel?.writable === false
      ? 'This file is read-only.'
      : null;
  }

  get gone(): ISignal<this, void> {
    return this._gone;
  }

  get moved(): ISignal<this, void> {
    return this._moved;
  }

  readonly isThere = true;

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._document.disposed.disconnect(this._onGone, this);
      Signal.clearData(this);
      this.detach();
    }
  }

  get path(): string {
    return this._path;
  }

  set path(path: string) {
    this._path = path;
    this._names.add(path);
  }

  recall({
    base,
    path,
    selection
  }: Pick<IOpenChat, 'base' | 'path' | 'selection'>): void {
    this._base = base;
    this._selection = selection ?? null;
    this._names.add(path ?? this._path);
  }

  renew(): void {
    const now = this._document.content.model.sharedModel.getSource();
    const selection = foundAgain(this._selection, this._base, now);
    if (selection || !this._selection) {
      this._base = now;
      this._selection = selection;
    }
  }

  canRun(): boolean {
    return false;
  }

  attach(box: Widget): void {
    this._box = box;
    box.addClass('da-mod-file');
    this._document.contentHeader.insertWidget(0, box);
    this._giveRoom(box);
  }

  detach(): void {
    if (this._box && !this._box.isDisposed) {
      this._box.parent = null;
    }
    this._box = null;
  }

  requestContext(): RequestContext {
    const { model, editor } = this._document.content;
    this._base = model.sharedModel.getSource();
    this._selection = selectedIn(editor, this._base);
    return {
      activeNotebook: null,
      attachments: [{ kind: 'file', path: this.path }],
      selection: this._selection
        ? this._base.slice(...this._selection)
        : undefined
    };
  }

  viewFor(
    target: ProposalTarget,
    former?: IProposalView
  ): Promise<IProposalView | null> {
    const { model, editor } = this._document.content;
    const isThis =
      target.kind === 'file' && this._names.has(target.path.replace(/^\//, ''));
    return Promise.resolve(
      isThis && editor instanceof CodeMirrorEditor
        ? new EditorProposalView(
            editor,
            this._base,
            {
              obstacle: () => this.obstacle,
              write: hunks => writeInto(model.sharedModel, hunks)
            },
            this._document.content,
            undefined,
            former
          )
        : null
    );
  }

  asOneStep(_slots: readonly IProposalView[], act: () => void): void {
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
  private _selection: readonly [number, number] | null = null;
  private _box: Widget | null = null;
  private _isDisposed = false;
  private readonly _gone = new Signal<this, void>(this);
  /** Nothing moves in a file. */
  private readonly _moved = new Signal<this, void>(this);
}
