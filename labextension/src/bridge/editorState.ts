import { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { EditorState, OpenNotebook } from '../api';
import { Documents } from '../notebook/documents';
import { ExecutionTracker } from '../notebook/kernel/executions';
import { forEachNotebook } from '../notebook/forEachNotebook';
import { kernelOf } from '../notebook/kernel/kernel';

/** The shortest time between two reports, in ms. */
const INTERVAL_MS = 50;

/**
 * Reports what the user has before them: the active document, and what each open notebook shows.
 *
 * Nothing here happens on a key press: JupyterLab's signals for the active cell, the selection,
 * the mode, the cells and the kernel only ask for a new report, at most one in each interval.
 */
export class EditorStateReporter implements IDisposable {
  constructor(
    private readonly _shell: JupyterFrontEnd.IShell,
    private readonly _tracker: INotebookTracker,
    private readonly _documents: Documents,
    private readonly _executions: ExecutionTracker
  ) {
    _shell.currentChanged?.connect(this._schedule, this);
    // A document that is opened in the background does not become the current one.
    if ('layoutModified' in _shell) {
      (_shell as ILabShell).layoutModified.connect(this._schedule, this);
    }
    _tracker.currentChanged.connect(this._schedule, this);
    _executions.changed.connect(this._schedule, this);
    this._state = this._compute();
    this._text = JSON.stringify(this._state);
    forEachNotebook(_tracker, panel => this._follow(panel), this);
  }

  /** The newest report. */
  get state(): EditorState {
    return this._state;
  }

  /** Emitted when the state has changed. */
  get changed(): ISignal<this, EditorState> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.clearTimeout(this._timer);
    Signal.clearData(this);
  }

  /** Report now what has changed, if anything. */
  flush(): void {
    window.clearTimeout(this._timer);
    this._timer = undefined;
    const state = this._compute();
    const text = JSON.stringify(state);
    if (text !== this._text) {
      this._state = state;
      this._text = text;
      this._changed.emit(state);
    }
  }

  private _schedule(): void {
    if (this._timer === undefined && !this._isDisposed) {
      this._timer = window.setTimeout(() => this.flush(), INTERVAL_MS);
    }
  }

  private _follow(panel: NotebookPanel): void {
    const { content, context, sessionContext } = panel;
    content.activeCellChanged.connect(this._schedule, this);
    content.selectionChanged.connect(this._schedule, this);
    content.stateChanged.connect(this._schedule, this);
    context.pathChanged.connect(this._schedule, this);
    sessionContext.sessionChanged.connect(this._schedule, this);
    sessionContext.kernelChanged.connect(this._schedule, this);
    sessionContext.statusChanged.connect(this._schedule, this);
    sessionContext.connectionStatusChanged.connect(this._schedule, this);
    panel.disposed.connect(this._schedule, this);
    const ready = () => {
      panel.model?.cells.changed.connect(this._schedule, this);
      this._schedule();
    };
    void context.ready.then(ready, () => undefined);
    // At once: from now on the file is the page's.
    this.flush();
  }

  private _compute(): EditorState {
    const notebooks: OpenNotebook[] = [];
    this._tracker.forEach(panel => {
      const path = this._documents.pathOf(panel.context);
      // Several views of a notebook are one notebook: the one that was used last speaks for it.
      const isOne = this._documents.findNotebook(path ?? '') === panel;
      if (path !== null && isOne && !panel.isDisposed) {
        notebooks.push(this._describe(panel, path));
      }
    });
    return {
      type: 'editor_state',
      activeDocument: this._documents.describe(this._shell.currentWidget),
      notebooks,
      files: this._files()
    };
  }

  /** The text files that are open; one that is being loaded is reported when that is done. */
  private _files(): string[] {
    return this._documents.files().flatMap(({ path, context, isText }) => {
      if (!this._followed.has(context)) {
        this._followed.add(context);
        context.pathChanged.connect(this._schedule, this);
        context.disposed.connect(this._schedule, this);
        void context.ready.then(
          () => this._schedule(),
          () => undefined
        );
      }
      return isText ? [path] : [];
    });
  }

  private _describe(panel: NotebookPanel, path: string): OpenNotebook {
    const { content, context, sessionContext } = panel;
    const editing = content.mode === 'edit';
    const activeCellId = content.activeCell?.model.id;
    return {
      path,
      ready: context.isReady,
      ...kernelOf(panel),
      cellCount: content.widgets.length,
      activeCellId,
      editing,
      selectedCellIds: selectedIds(panel),
      runningCellIds: this._executions.withStatus(sessionContext, 'running'),
      pendingCellIds: this._executions.withStatus(sessionContext, 'pending')
    };
  }

  private readonly _followed = new WeakSet<object>();
  private _state: EditorState;
  private _text: string;
  private _timer: number | undefined;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, EditorState>(this);
}

/** The selected cells, the active one among them. */
function selectedIds({ content }: NotebookPanel): string[] {
  if (content.mode === 'edit') {
    // Edit mode deselects the others.
    return content.activeCell ? [content.activeCell.model.id] : [];
  }
  return content.widgets
    .filter(widget => content.isSelectedOrActive(widget))
    .map(widget => widget.model.id);
}
