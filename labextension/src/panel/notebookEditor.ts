import { JupyterFrontEnd, LabShell } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { FileDialog } from '@jupyterlab/filebrowser';
import { IOutput } from '@jupyterlab/nbformat';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { ICellLabel, IEditor, IKernelState, INotebookHints } from './editor';

/** A name that a data frame is loaded into. */
const FRAME = /^\s*(\w+)\s*=\s*(?:pd|pl|polars|pandas)\.(?:read|scan)_\w+\(/m;

/** The notebooks that are open in JupyterLab, as the panel sees them. */
export class NotebookEditor implements IEditor {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _tracker: INotebookTracker,
    private readonly _documents: IDocumentManager
  ) {
    _tracker.currentChanged.connect(this._onCurrent, this);
    _app.shell.currentChanged?.connect(this._emit, this);
    _tracker.widgetAdded.connect((_, panel) => {
      panel.disposed.connect(this._emit, this);
      panel.context.pathChanged.connect(this._emit, this);
      this._emit();
    });
    this._onCurrent();
  }

  readonly changed: Signal<IEditor, void> = new Signal(this);

  get activeNotebook(): string | null {
    const current =
      this._app.shell instanceof LabShell
        ? this._app.shell.currentWidget
        : this._tracker.currentWidget;
    return current instanceof NotebookPanel ? current.context.path : null;
  }

  get openNotebooks(): readonly string[] {
    const paths: string[] = [];
    this._tracker.forEach(panel => paths.push(panel.context.path));
    return paths;
  }

  kernel(path: string): IKernelState | null {
    const context = this._panel(path)?.sessionContext;
    return context
      ? {
          name: context.kernelDisplayName,
          status: context.session?.kernel?.status ?? 'unknown'
        }
      : null;
  }

  cell(path: string, cellId: string): ICellLabel | null {
    const cells = this._panel(path)?.model?.cells;
    if (!cells) {
      return null;
    }
    for (let index = 0; index < cells.length; index++) {
      const cell = cells.get(index);
      if (cell.id === cellId) {
        const source = cell.sharedModel.getSource();
        const firstLine = source.split('\n').find(line => line.trim()) ?? '';
        return { number: index + 1, firstLine };
      }
    }
    return null;
  }

  hints(path: string): INotebookHints {
    const cells = this._panel(path)?.model?.sharedModel.cells ?? [];
    const sources = cells.map(cell => cell.getSource());
    const hints: INotebookHints = {
      isEmpty: sources.every(source => !source.trim())
    };
    for (const [index, cell] of cells.entries()) {
      const { cell_type: type } = cell;
      if (type !== 'code') {
        continue;
      }
      const outputs = (cell.toJSON().outputs ?? []) as IOutput[];
      const failure = outputs.find(output => output.output_type === 'error');
      if (failure && !hints.error) {
        hints.error = { number: index + 1, name: String(failure.ename) };
      }
      const name = FRAME.exec(sources[index])?.[1];
      const later = sources.slice(index + 1).join('\n');
      if (name && !new RegExp(`\\b${name}\\b`).test(later)) {
        hints.frame = name;
      }
    }
    return hints;
  }

  async reveal(path: string, cellId?: string): Promise<void> {
    const widget = this._documents.openOrReveal(path);
    if (!cellId || !(widget instanceof NotebookPanel)) {
      return;
    }
    await widget.context.ready;
    await widget.revealed;
    const notebook = widget.content;
    const index = notebook.widgets.findIndex(cell => cell.model.id === cellId);
    if (index >= 0) {
      await notebook.scrollToItem(index, 'smart');
      flash(notebook.widgets[index]);
    }
  }

  async chooseFiles(): Promise<string[]> {
    const { value } = await FileDialog.getOpenFiles({
      manager: this._documents,
      title: 'Attach files'
    });
    return (value ?? [])
      .filter(({ type }) => type !== 'directory')
      .map(({ path }) => path);
  }

  private _panel(path: string): NotebookPanel | undefined {
    return this._tracker.find(panel => panel.context.path === path);
  }

  private _onCurrent(): void {
    const context = this._tracker.currentWidget?.sessionContext;
    // One connection a context, however often its notebook comes to the front.
    context?.statusChanged.connect(this._emit, this);
    this._emit();
  }

  private _emit(): void {
    this.changed.emit();
  }
}

/** Show for a moment which cell was meant. */
function flash(cell: Widget): void {
  cell.addClass('da-mod-flash');
  setTimeout(() => cell.removeClass('da-mod-flash'), 1500);
}
