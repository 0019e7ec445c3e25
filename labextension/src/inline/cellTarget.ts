import type { NotebookChange, YNotebook } from '@jupyter/ydoc';
import {
  Cell,
  ICellModel,
  isCodeCellModel,
  MarkdownCell
} from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { IDisposable } from '@lumino/disposable';
import { MessageLoop } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { hasOtherLineEnds, lineFeeds } from '../diff/lines';
import { isLocked, isRunning, sharedNotebook } from '../notebook/cells';
import { insertInCell } from '../notebook/insertInCell';
import { kernelOf } from '../notebook/kernel/kernel';
import { keepingView } from '../notebook/view';
import {
  IFencedBlock,
  IProposal,
  isMarkdown,
  ProposalTarget
} from '../proposals';
import { holdInView, isSeen } from './inView';
import type { IOpenChat } from './openChats';
import type { ISubject } from './plain';
import { nameOf } from './proposalReview';
import { foundAgain, selectedIn } from './selected';
import { EditorProposalView, NewCellProposalView } from './proposalViews';
import {
  IInlineTarget,
  IProposalView,
  IChatAnchor,
  RequestContext
} from './target';
import { writeIntoCell } from '../notebook/edits/write';

/** Set on a cell with an inline chat. */
const INLINE_CLASS = 'da-mod-inline';

/** A cell of an open notebook, with an inline chat on it. */
export class CellTarget implements IInlineTarget {
  constructor(
    private readonly _panel: NotebookPanel,
    private _cell: Cell<ICellModel>,
    public path: string,
    /** Where the box is: above the editor, or under the output. */
    private readonly _where: 'above' | 'below' = 'above'
  ) {
    this._cellId = _cell.model.id;
    this._mode = _panel.content.mode;
    this._wasRendered = _cell instanceof MarkdownCell && _cell.rendered;
    this._cells = sharedNotebook(_panel);
    this._cells.changed.connect(this._onNotebook, this);
    _panel.disposed.connect(this._onGone, this);
    this._follow(_cell);
  }

  /** The cell as it is shown now: another widget after it was moved, or given another type. */
  get cell(): Cell<ICellModel> {
    return this._cell;
  }

  get placeholder(): string {
    const isEmpty = !textOf(this.cell).trim();
    if (this.cell.model.type === 'markdown') {
      return isEmpty ? 'Describe what to write' : 'Ask or describe a change';
    }
    return isEmpty
      ? 'Describe what this cell should do'
      : 'Ask or describe a change';
  }

  get anchor(): IChatAnchor {
    return { cellId: this._cellId, where: this._where };
  }

  get moved(): ISignal<this, void> {
    return this._moved;
  }

  get isThere(): boolean {
    return !this._cell.isDisposed;
  }

  get isLeft(): boolean {
    return this._panel.isDisposed;
  }

  get subject(): ISubject {
    return {
      target: { kind: 'cell', cellId: this._cellId },
      name: 'cell',
      type: this._type,
      language: kernelOf(this._panel).kernelLanguage ?? '',
      base: this._bases.get(this._cellId) ?? '',
      selection: this._selection
    };
  }

  get obstacle(): string | null {
    if (!this.isThere) {
      return 'The cell no longer exists.';
    }
    const { readOnly } = this._panel.content.model!;
    return readOnly || isLocked(this.cell.model, 'editable')
      ? 'This cell is read-only.'
      : null;
  }

  get gone(): ISignal<this, void> {
    return this._gone;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._cells.changed.disconnect(this._onNotebook, this);
    this._panel.disposed.disconnect(this._onGone, this);
    this._cell.disposed.disconnect(this._onCellGone, this);
    Signal.clearData(this);
    this.detach();
  }

  attach(box: Widget): void {
    const { cell } = this;
    this._box = box;
    if (cell instanceof MarkdownCell) {
      cell.rendered = false;
    }
    cell.addClass(INLINE_CLASS);
    if (this._where === 'below') {
      insertInCell(cell, 'bottom', box);
    } else {
      insertInCell(cell, 'below-header', box);
      this._held?.dispose();
      this._held = holdInView(box, cell);
    }
  }

  detach(): void {
    const { cell, _box: box } = this;
    this._box = null;
    this._held?.dispose();
    if (box && !box.isDisposed) {
      box.parent = null;
    }
    if (!cell.isDisposed) {
      cell.removeClass(INLINE_CLASS);
      if (this._wasRendered && cell instanceof MarkdownCell) {
        cell.rendered = true;
      }
    }
  }

  recall({ base, selection }: Pick<IOpenChat, 'base' | 'selection'>): void {
    this._takeBases();
    this._bases.set(this._cellId, lineFeeds(base));
    this._selection = selection ?? null;
  }

  renew(): void {
    const { base } = this.subject;
    const now = textOf(this.cell);
    const selection = foundAgain(this._selection, base, now);
    this._takeBases();
    if (this._selection && !selection) {
      this._bases.set(this._cellId, base);
    } else {
      this._selection = selection;
    }
  }

  requestContext(): RequestContext {
    this._takeBases();
    const source = textOf(this.cell);
    this._selection = selectedIn(this.cell.editor, source);
    return {
      activeNotebook: this.path,
      cellId: this.cell.model.id,
      attachments: this._around(),
      selection: this._selection ? source.slice(...this._selection) : undefined
    };
  }

  insert(where: 'before' | 'after', block: IFencedBlock): void {
    const { id } = this.cell.model;
    this._insert({ ...block, target: { kind: where, cellId: id } });
  }

  async viewFor(
    target: ProposalTarget,
    former?: IProposalView
  ): Promise<IProposalView | null> {
    const cell = target.kind === 'file' ? null : this._find(target.cellId);
    if (!cell) {
      return null;
    }
    if (target.kind === 'after' || target.kind === 'before') {
      return new NewCellProposalView(cell, target.kind, {
        obstacle: () => this._readOnly,
        insert: proposal => this._insert(proposal)
      });
    }
    if (!cell.editor) {
      // A cell that was never on the screen has no editor yet.
      await this._panel.content.scrollToItem(
        this._panel.content.widgets.indexOf(cell)
      );
      await cell.ready;
    }
    if (cell instanceof MarkdownCell) {
      cell.rendered = false;
    }
    const { id } = cell.model;
    return cell.editor instanceof CodeMirrorEditor
      ? new EditorProposalView(
          cell.editor,
          this._bases.get(id) ?? textOf(cell),
          {
            obstacle: () => this._obstacleIn(cell),
            write: (hunks, shown) =>
              writeIntoCell(this._panel, id, shown, hunks, this._order)
          },
          cell,
          id,
          former
        )
      : null;
  }

  /**
   * A change of one cell is a step of that cell's undo (Ctrl+Z in it); of several, or with new
   * ones, a step of the notebook's.
   */
  asOneStep(slots: readonly IProposalView[], act: () => void): void {
    const notebook = sharedNotebook(this._panel);
    if (slots.length === 1 && slots[0] instanceof EditorProposalView) {
      act();
      return;
    }
    // Within a transaction the notebook's own list of cells is the one from before it.
    this._order = notebook.cells.map(cell => cell.getId());
    notebook.undoManager.stopCapturing();
    keepingView(this._panel.content, () => notebook.transact(act));
    notebook.undoManager.stopCapturing();
    this._order = null;
  }

  canRun(proposals: readonly IProposal[]): boolean {
    return proposals.some(proposal =>
      proposal.target.kind === 'cell'
        ? this._find(proposal.target.cellId)?.model.type === 'code'
        : !isMarkdown(proposal)
    );
  }

  run(cellIds: readonly string[]): void {
    const { content, sessionContext } = this._panel;
    const cells = content.widgets.filter(({ model }) =>
      cellIds.includes(model.id)
    );
    void NotebookActions.runCells(content, cells, sessionContext);
    this._mode = 'command';
  }

  focusBack(): void {
    const { content } = this._panel;
    if (content.isDisposed) {
      return;
    }
    // What was accepted just now may have made it anew.
    const cell = this._find(this._cellId);
    if (!cell) {
      return;
    }
    const isRendered = cell instanceof MarkdownCell && this._wasRendered;
    content.activeCellIndex = content.widgets.indexOf(cell);
    content.mode = isRendered ? 'command' : this._mode;
    if (content.mode === 'edit') {
      const focus = () => {
        if (content.activeCell === cell && content.mode === 'edit') {
          cell.editor?.focus();
        }
      };
      if (cell.editor) {
        focus();
      } else {
        // It was made anew just now.
        void cell.ready.then(focus);
      }
    } else {
      cell.node.focus({ preventScroll: true });
    }
    if (!isSeen(cell.node, content.outerNode)) {
      // The user has looked at a change elsewhere: they are to see where their keys go.
      void content.scrollToItem(content.activeCellIndex);
    }
  }

  private get _readOnly(): string | null {
    return this._panel.content.model!.readOnly
      ? 'This notebook is read-only.'
      : null;
  }

  /** Why nothing can be written into a cell now; null where it can. */
  private _obstacleIn(cell: Cell<ICellModel>): string | null {
    if (this._readOnly) {
      return this._readOnly;
    }
    const { model } = cell;
    const name = `Cell ${this._panel.content.widgets.indexOf(cell) + 1}`;
    if (isLocked(model, 'editable')) {
      return `${name} is locked. Unlock it first: in its metadata (Property Inspector), remove "editable": false or nbgrader's lock.`;
    }
    // It would be made anew, and lose the connection to its code.
    return isRunning(model) && hasOtherLineEnds(model.sharedModel.getSource())
      ? `${name} is running. Accept the change when the run has ended.`
      : null;
  }

  private _follow(cell: Cell<ICellModel>): void {
    this._cell = cell;
    this._type = cell.model.type as ISubject['type'];
    cell.disposed.connect(this._onCellGone, this);
  }

  private _onCellGone(cell: Widget): void {
    const { _box: box } = this;
    if (box?.parent === cell) {
      // It would be disposed of with the cell, which does not take it out any more by itself.
      cell.layout?.removeWidget(box);
      box.parent = null;
      if (box.isAttached && !box.node.isConnected) {
        // The notebook's layout does not say it to what is in its cells, and the box may be closed next.
        MessageLoop.sendMessage(box, Widget.Msg.AfterDetach);
      }
    }
  }

  /** JupyterLab makes a cell anew where it is moved or given another type; its id stays. */
  private _onNotebook(_: unknown, { cellsChange }: NotebookChange): void {
    if (cellsChange) {
      // Only then are all of them shown.
      queueMicrotask(() => void this._findAgain());
    }
  }

  private async _findAgain(): Promise<void> {
    if (this._isDisposed || this._panel.isDisposed) {
      return;
    }
    const cell = this._find(this._cellId);
    if (cell && cell !== this._cell) {
      this._follow(cell);
      await cell.ready;
      if (this._isDisposed || cell !== this._cell || cell.isDisposed) {
        return;
      }
      if (this._box) {
        this.attach(this._box);
      }
    }
    this._moved.emit();
  }

  private _onGone(): void {
    this._gone.emit();
  }

  private _takeBases(): void {
    this._bases = new Map(
      sharedNotebook(this._panel).cells.map(cell => [
        cell.getId(),
        lineFeeds(cell.getSource())
      ])
    );
  }

  /** The cell itself with its output, and the cells next to it. */
  private _around(): RequestContext['attachments'] {
    const { widgets } = this._panel.content;
    const index = widgets.indexOf(this.cell);
    const { path } = this;
    const cells = widgets
      .slice(Math.max(0, index - 1), index + 2)
      .map(({ model }) => ({ kind: 'cell' as const, path, cellId: model.id }));
    const { model } = this.cell;
    return isCodeCellModel(model) && model.outputs.length
      ? [...cells, { kind: 'output' as const, path, cellId: model.id }]
      : cells;
  }

  private _find(cellId: string): Cell<ICellModel> | undefined {
    return this._panel.content.widgets.find(({ model }) => model.id === cellId);
  }

  /** Insert the cell that is proposed next to another; its id. */
  private _insert(proposal: IProposal): string {
    const order = this._order;
    if (!order) {
      let id = '';
      this.asOneStep([], () => (id = this._insert(proposal)));
      return id;
    }
    const notebook = sharedNotebook(this._panel);
    const type = isMarkdown(proposal) ? 'markdown' : 'code';
    // Behind those that were accepted for the same place before.
    const isBefore = proposal.target.kind === 'before';
    // Not of the model of its cell, which is another one once its cell was made anew.
    const beside = nameOf(proposal.target);
    const previous = this._inserted.get(beside) ?? beside;
    const known = isBefore ? -1 : order.indexOf(previous);
    const place = order.indexOf(beside);
    const index = isBefore ? place : (known < 0 ? place : known) + 1;
    const id = notebook
      .insertCell(index, {
        cell_type: type,
        source: lineFeeds(proposal.source),
        metadata: type === 'code' ? { trusted: true } : {}
      })
      .getId();
    order.splice(index, 0, id);
    if (!isBefore) {
      this._inserted.set(beside, id);
    }
    return id;
  }

  private readonly _cells: YNotebook;
  private readonly _cellId: string;
  private _type: ISubject['type'] = 'code';
  private _box: Widget | null = null;
  private _held: IDisposable | null = null;
  private _mode: 'command' | 'edit';
  private readonly _wasRendered: boolean;
  private _bases = new Map<string, string>();
  private _selection: readonly [number, number] | null = null;
  private readonly _inserted = new Map<string, string>();
  /** The cells' ids, in order, in the step under way; null outside of one. */
  private _order: string[] | null = null;
  private _isDisposed = false;
  private readonly _gone = new Signal<this, void>(this);
  private readonly _moved = new Signal<this, void>(this);
}

/** What a cell's editor shows. */
function textOf({ model }: Cell<ICellModel>): string {
  return lineFeeds(model.sharedModel.getSource());
}
