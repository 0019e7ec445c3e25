import { Cell, CodeCell } from '@jupyterlab/cells';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Widget } from '@lumino/widgets';

import { linesButtons, renderLines } from '../diff/merge';
import { insertInCell } from '../notebook/insertInCell';
import { acceptBelow, emptyCellBelow } from './accept';

/** A suggested cell, shown below the one that was run. It is no cell before it is accepted. */
export class NextCellSuggestion extends Widget {
  /** @param over - It is accepted or dismissed. */
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _cell: CodeCell,
    private readonly _source: string,
    private readonly _over: () => void
  ) {
    super();
    this.addClass('da-ghost');
    this.node.dataset.testid = 'da-ghost';
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', 'Suggested next cell');
    const head = document.createElement('div');
    head.className = 'da-ghost-head';
    const label = document.createElement('span');
    label.setAttribute('role', 'status');
    label.textContent = 'Suggested next cell';
    head.append(
      label,
      linesButtons(
        ['Accept (Tab)', 'Accept (Tab)', () => this._accept()],
        ['Dismiss (Esc)', 'Dismiss (Esc)', _over]
      )
    );
    const { editor } = _cell;
    this.node.append(
      head,
      renderLines(
        _source,
        editor instanceof CodeMirrorEditor ? editor.editor : null
      )
    );
    document.addEventListener('keydown', this, true);
    _panel.content.activeCellChanged.connect(this._onActiveCell, this);
    _cell.disposed.connect(_over);
    insertInCell(_cell, 'bottom', this);
  }

  dispose(): void {
    if (!this.isDisposed) {
      document.removeEventListener('keydown', this, true);
      this._panel.content.activeCellChanged.disconnect(
        this._onActiveCell,
        this
      );
      this._cell.disposed.disconnect(this._over);
      super.dispose();
    }
  }

  /** Tab and Escape are the suggestion's where the user is by it. */
  handleEvent(event: KeyboardEvent): void {
    const { key, target } = event;
    const isPlain =
      !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey;
    if (!isPlain || !(target instanceof Element) || !this._isBy(target)) {
      return;
    }
    if (key === 'Tab') {
      this._accept();
    } else if (key === 'Escape') {
      this._over();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** A cell by it, or its editor; buttons and fields in cells keep their keys. */
  private _isBy(target: Element): boolean {
    const isPlace =
      target.matches('.jp-Cell, .jp-Notebook') ||
      target.closest('.jp-InputArea-editor .cm-content') !== null;
    return isPlace && this._panel.content.node.contains(target);
  }

  private _accept(): void {
    this._over();
    acceptBelow(this._panel, this._cell, this._source);
  }

  /** The user went on to some other cell. */
  private _onActiveCell(_: unknown, active: Cell | null): void {
    if (
      active !== this._cell &&
      active !== emptyCellBelow(this._panel, this._cell)
    ) {
      this._over();
    }
  }
}
