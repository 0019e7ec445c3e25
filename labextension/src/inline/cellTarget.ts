import {
  Cell,
  ICellModel,
  isCodeCellModel,
  MarkdownCell
} from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { ISignal, Signal } from '@lumino/signaling';
import { PanelLayout, Widget } from '@lumino/widgets';

import { indexOf, sharedNotebook } from '../bridge/cells';
import { keepingView } from '../bridge/view';
import { IProposal, isMarkdown, ProposalTarget } from '../proposals';
import type { IOpenChat } from './openChats';
import { EditorSlot, NewCellSlot } from './slots';
import { IInlineTarget, ISlot, ISpot, Place } from './target';
import { writeInto } from './write';

/** Set on a cell with an inline chat. */
const INLINE_CLASS = 'da-mod-inline';

/** A cell of an open notebook, with an inline chat on it. */
export class CellTarget implements IInlineTarget {
  constructor(
    private readonly _panel: NotebookPanel,
    readonly cell: Cell<ICellModel>,
    public path: string,
    /** Where the box stands: above the editor, or under the output. */
    private readonly _where: 'above' | 'below' = 'above'
  ) {
    this._cellId = cell.model.id;
    this._mode = _panel.content.mode;
    this._wasRendered = cell instanceof MarkdownCell && cell.rendered;
    if (cell instanceof MarkdownCell) {
      cell.rendered = false;
    }
    // Only then is it known whether the notebook is closed.
    cell.disposed.connect(() => queueMicrotask(() => this._gone.emit()));
  }

  get placeholder(): string {
    const isEmpty = !this.cell.model.sharedModel.getSource().trim();
    if (this.cell.model.type === 'markdown') {
      return isEmpty ? 'What to write here' : 'Ask, or say what to change';
    }
    return isEmpty ? 'What this cell is to do' : 'Ask, or say what to change';
  }

  get spot(): ISpot {
    return { cellId: this._cellId, where: this._where };
  }

  get isLeft(): boolean {
    return this._panel.isDisposed;
  }

  get base(): string {
    return this._bases.get(this._cellId) ?? '';
  }

  get obstacle(): string | null {
    const { readOnly } = this._panel.content.model!;
    return readOnly || this.cell.model.getMetadata('editable') === false
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
    Signal.clearData(this);
    if (!this.cell.isDisposed) {
      this.cell.removeClass(INLINE_CLASS);
      if (this._wasRendered && this.cell instanceof MarkdownCell) {
        this.cell.rendered = true;
      }
    }
  }

  attach(box: Widget): void {
    this.cell.addClass(INLINE_CLASS);
    const layout = this.cell.layout as PanelLayout;
    if (this._where === 'below') {
      layout.addWidget(box);
    } else {
      // Behind the header, above the editor.
      layout.insertWidget(1, box);
      this._holdInView(box);
    }
  }

  recall({ base }: Pick<IOpenChat, 'base'>): void {
    this._takeBases();
    this._bases.set(this._cellId, base);
  }

  place(): Place {
    this._takeBases();
    const { editor } = this.cell;
    const source = this.cell.model.sharedModel.getSource();
    const { start, end } = editor?.getSelection() ?? {};
    const [from, to] = [start, end]
      .map(position => (position && editor?.getOffsetAt(position)) ?? 0)
      .sort((one, other) => one - other);
    return {
      activeNotebook: this.path,
      cellId: this.cell.model.id,
      attachments: this._around(),
      selection: source.slice(from, to).trim()
        ? source.slice(from, to)
        : undefined
    };
  }

  async slotFor(target: ProposalTarget): Promise<ISlot | null> {
    const cell = target.kind === 'file' ? null : this._find(target.cellId);
    if (!cell) {
      return null;
    }
    if (target.kind === 'after' || target.kind === 'before') {
      return new NewCellSlot(cell, target.kind, proposal =>
        this._insert(cell, proposal)
      );
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
    const { sharedModel, id } = cell.model;
    return cell.editor instanceof CodeMirrorEditor
      ? new EditorSlot(
          cell.editor,
          this._bases.get(id) ?? sharedModel.getSource(),
          hunks => writeInto(sharedModel, hunks),
          cell,
          id
        )
      : null;
  }

  /**
   * A change of one cell is a step of that cell's undo (Ctrl+Z in it); of several, or with new
   * ones, a step of the notebook's.
   */
  asOneStep(slots: readonly ISlot[], act: () => void): void {
    const notebook = sharedNotebook(this._panel);
    if (slots.length === 1 && slots[0] instanceof EditorSlot) {
      act();
      return;
    }
    this._insertedAt = [];
    notebook.undoManager.stopCapturing();
    keepingView(this._panel.content, () => notebook.transact(act));
    notebook.undoManager.stopCapturing();
    this._insertedAt = null;
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
    if (this.cell.isDisposed || content.isDisposed) {
      return;
    }
    const isRendered = this.cell instanceof MarkdownCell && this._wasRendered;
    content.activeCellIndex = content.widgets.indexOf(this.cell);
    content.mode = isRendered ? 'command' : this._mode;
    if (content.mode === 'edit') {
      this.cell.editor?.focus();
    } else {
      this.cell.node.focus({ preventScroll: true });
    }
    if (!isSeen(this.cell.node, content.outerNode)) {
      // The person has looked at a change elsewhere: they are to see where their keys go.
      void content.scrollToItem(content.activeCellIndex);
    }
  }

  /** It stays in view over a proposal that is higher than the window, which begins below it. */
  private _holdInView(box: Widget): void {
    box.addClass('da-mod-held');
    const { style } = this.cell.node;
    const observer = new ResizeObserver(() =>
      style.setProperty('--da-inline-height', `${box.node.offsetHeight + 8}px`)
    );
    observer.observe(box.node);
    box.disposed.connect(() => {
      observer.disconnect();
      style.removeProperty('--da-inline-height');
    });
  }

  private _takeBases(): void {
    this._bases = new Map(
      sharedNotebook(this._panel).cells.map(cell => [
        cell.getId(),
        cell.getSource()
      ])
    );
  }

  /** The cell itself with its output, and the cells next to it. */
  private _around(): Place['attachments'] {
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

  private _insert(after: Cell, proposal: IProposal): string {
    if (!this._insertedAt) {
      let id = '';
      this.asOneStep([], () => (id = this._insert(after, proposal)));
      return id;
    }
    const notebook = sharedNotebook(this._panel);
    const type = isMarkdown(proposal) ? 'markdown' : 'code';
    // Behind those that were accepted for the same place before.
    const isBefore = proposal.target.kind === 'before';
    const previous = this._inserted.get(after.model.id) ?? after.model.id;
    const known = isBefore ? -1 : indexOf(notebook, previous);
    const place = indexOf(notebook, after.model.id);
    const index = isBefore ? place : (known < 0 ? place : known) + 1;
    // Within a transaction the list of cells is the one from before it.
    const earlier = this._insertedAt.filter(other => other <= index).length;
    this._insertedAt.push(index);
    const id = notebook
      .insertCell(index + earlier, {
        cell_type: type,
        source: proposal.source,
        metadata: type === 'code' ? { trusted: true } : {}
      })
      .getId();
    if (!isBefore) {
      this._inserted.set(after.model.id, id);
    }
    return id;
  }

  private readonly _cellId: string;
  private _mode: 'command' | 'edit';
  private readonly _wasRendered: boolean;
  private _bases = new Map<string, string>();
  private readonly _inserted = new Map<string, string>();
  /** Where cells were inserted in the step under way; null outside of one. */
  private _insertedAt: number[] | null = null;
  private _isDisposed = false;
  private readonly _gone = new Signal<this, void>(this);
}

/** Whether any of an element is on the screen, in what scrolls. */
function isSeen(element: HTMLElement, frame: HTMLElement): boolean {
  const [inner, outer] = [element, frame].map(each =>
    each.getBoundingClientRect()
  );
  return inner.bottom > outer.top && inner.top < outer.bottom;
}
