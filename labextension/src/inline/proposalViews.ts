import { Cell, ICellModel } from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import {
  drawLines,
  EditorMerge,
  linesButtons,
  renderLines,
  whenDrawn,
  IWritable
} from '../diff/merge';
import { insertInCell } from '../notebook/insertInCell';
import { IProposal, isMarkdown } from '../proposals';
import { IProposalView, Outcome } from './target';

/** Set on what shows a proposal; the keys that decide on proposals go by it. */
export const PROPOSED_CLASS = 'da-mod-proposed';

/** A proposal for the text of an editor: a cell's or a file's. */
export class EditorProposalView implements IProposalView {
  constructor(
    editor: CodeMirrorEditor,
    base: string,
    document: IWritable,
    /** What holds the editor. */
    private readonly _frame: Widget,
    private readonly _cellId?: string,
    former?: IProposalView
  ) {
    const before = former instanceof EditorProposalView ? former : null;
    this._base = before?._base ?? base;
    this._wasWritten = before?._isWritten ?? false;
    this._merge = new EditorMerge(editor.editor, this._base, document);
    this._merge.changed.connect(this._onChange, this);
    this._merge.refused.connect((_, reason) => this._refused.emit(reason));
    _frame.addClass(PROPOSED_CLASS);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get refused(): ISignal<this, string> {
    return this._refused;
  }

  get isDisposed(): boolean {
    return this._merge.isDisposed;
  }

  get isLost(): boolean {
    return this._frame.isDisposed;
  }

  get hunks(): readonly { id: number; isBlocked: boolean }[] {
    return this._merge.hunks.map(({ id, touched }) => ({
      id,
      isBlocked: touched
    }));
  }

  get current(): number {
    return this._merge.current;
  }

  get written(): string | undefined {
    return this._isWritten ? this._cellId : undefined;
  }

  get rejected(): readonly number[] {
    return this._merge.rejected;
  }

  get outcome(): Outcome | null {
    const isLess = this.rejected.length > 0 || this.hunks.length > 0;
    if (this._isWritten) {
      return isLess ? 'accepted_in_part' : 'accepted';
    }
    return isLess ? 'rejected' : null;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._merge.dispose();
      this._frame.removeClass(PROPOSED_CLASS);
      Signal.clearData(this);
    }
  }

  show({ source, isComplete }: IProposal): void {
    this._merge.show(source, isComplete);
  }

  point(id: number, isQuiet = false): void {
    this._merge.point(id, isQuiet);
  }

  accept(ids: readonly number[]): void {
    this._merge.accept(ids);
  }

  reject(ids: readonly number[]): void {
    this._merge.reject(ids);
  }

  private _onChange(): void {
    this._frame.toggleClass(PROPOSED_CLASS, this.hunks.length > 0);
    this._changed.emit();
  }

  private get _isWritten(): boolean {
    return this._wasWritten || this._merge.hasAccepted;
  }

  private readonly _base: string;
  private readonly _merge: EditorMerge;
  private readonly _wasWritten: boolean;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _refused = new Signal<this, string>(this);
}

/** A cell that is proposed: shown by the one that it comes after, or before. */
export class NewCellProposalView implements IProposalView {
  constructor(
    private readonly _after: Cell<ICellModel>,
    where: 'after' | 'before',
    private readonly _notebook: {
      /** Why no cell can be inserted now; null where one can. */
      obstacle(): string | null;
      /** Insert the cell and return its id. */
      insert(proposal: IProposal): string;
    }
  ) {
    const widget = new Widget();
    widget.addClass('da-new-cell');
    widget.node.setAttribute('role', 'group');
    widget.node.setAttribute('aria-label', 'Proposed cell');
    insertInCell(_after, where === 'before' ? 'above-input' : 'bottom', widget);
    _after.addClass(PROPOSED_CLASS);
    this._widget = widget;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get refused(): ISignal<this, string> {
    return this._refused;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get isLost(): boolean {
    return this._after.isDisposed;
  }

  get hunks(): readonly { id: number; isBlocked: boolean }[] {
    return this._proposal && !this._isDecided
      ? [{ id: 0, isBlocked: false }]
      : [];
  }

  get current(): number {
    return this._isCurrent ? 0 : -1;
  }

  get written(): string | undefined {
    return this._cellId;
  }

  /** One that is rejected is decided as a whole. */
  readonly rejected = [];

  get outcome(): Outcome | null {
    return this._cellId === undefined ? 'rejected' : 'accepted';
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._after.removeClass(PROPOSED_CLASS);
      this._widget.dispose();
      Signal.clearData(this);
    }
  }

  show(proposal: IProposal): void {
    if (proposal.source === this._proposal?.source && !proposal.isComplete) {
      return;
    }
    this._proposal = proposal;
    const { editor } = this._after;
    const isSameKind =
      isMarkdown(proposal) === (this._after.model.type === 'markdown');
    const view =
      isSameKind && editor instanceof CodeMirrorEditor ? editor.editor : null;
    const head = document.createElement('div');
    head.className = 'da-new-cell-head';
    head.textContent = isMarkdown(proposal)
      ? 'New Markdown cell'
      : 'New code cell';
    if (proposal.isComplete) {
      head.append(
        linesButtons(
          ['Accept', 'Accept this cell', () => this.accept([0])],
          ['Reject', 'Reject this cell', () => this.reject([0])]
        )
      );
    }
    drawLines(this._lines, proposal.source, view);
    this._widget.node.replaceChildren(head, this._lines);
    this._changed.emit();
  }

  point(id: number, isQuiet = false): void {
    this._isCurrent = id === 0;
    this._widget.toggleClass('da-mod-current', this._isCurrent);
    if (this._isCurrent && !isQuiet) {
      const reveal = () =>
        this._widget.node.scrollIntoView({ block: 'nearest' });
      reveal();
      // What decides on it is about to be drawn above, and moves it.
      whenDrawn(() => this._isCurrent && reveal());
    }
    this._changed.emit();
  }

  accept(ids: readonly number[]): void {
    const obstacle = this._notebook.obstacle();
    if (!ids.length || !this._proposal || this._isDecided) {
      return;
    }
    if (obstacle) {
      this._refused.emit(obstacle);
    } else {
      this._decide();
      this._cellId = this._notebook.insert(this._proposal);
      this._changed.emit();
    }
  }

  reject(ids: readonly number[]): void {
    if (ids.length && !this._isDecided) {
      this._decide();
      this._changed.emit();
    }
  }

  private _decide(): void {
    this._isDecided = true;
    this._widget.hide();
  }

  private readonly _widget: Widget;
  private readonly _lines = renderLines('', null);
  private _proposal: IProposal | null = null;
  private _isDecided = false;
  private _isCurrent = false;
  private _cellId: string | undefined;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _refused = new Signal<this, string>(this);
}
