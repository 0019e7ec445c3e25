import { JupyterFrontEnd } from '@jupyterlab/application';
import { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import { PathExt } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { FileDialog } from '@jupyterlab/filebrowser';
import {
  INotebookTracker,
  Notebook,
  NotebookActions,
  NotebookPanel
} from '@jupyterlab/notebook';
import { Contents, ServerConnection } from '@jupyterlab/services';
import { ISharedCell } from '@jupyter/ydoc';
import { ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { isAgentsRun } from '../notebook/kernel/agentRuns';
import { lexicalHints } from '../lexical/hints';
import { indexOf, SharedCell, sharedNotebook } from '../notebook/cells';
import { Documents } from '../notebook/documents';
import { forEachNotebook } from '../notebook/forEachNotebook';
import { statusOf } from '../notebook/kernel/kernel';
import { findDataFiles } from '../notebook/dataFiles';
import {
  ICellContent,
  ICellLabel,
  IEditor,
  IKernelState,
  ILexicalHints,
  IListedCell,
  INotebookError,
  INotebookHints
} from '../notebook/editor';
import { Following, IFollowed } from '../session/following';
import { DocumentHints, errorIn, notebookHints } from '../notebook/hints';
import { isMarked } from './scratchpad/about';

/** The notebooks that are open in JupyterLab, as the panel sees them. */
export class NotebookEditor implements IEditor {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _tracker: INotebookTracker,
    private readonly _manager: IDocumentManager,
    private readonly _documents: Documents,
    readonly following = new Following()
  ) {
    _app.shell.currentChanged?.connect(this._onCurrent, this);
    _tracker.currentChanged.connect(this._emit, this);
    forEachNotebook(_tracker, panel => this._follow(panel));
    NotebookActions.executed.connect((_, { notebook, cell, success }) => {
      const panel = _tracker.find(({ content }) => content === notebook);
      const path = panel && this._documents.pathOf(panel.context);
      if (path && success) {
        this._ran.emit({ path, cellId: cell.model.id });
      } else if (path && !isAgentsRun(cell)) {
        this._failed.emit({ path, cellId: cell.model.id });
      }
    });
  }

  get changed(): ISignal<IEditor, void> {
    return this._changed;
  }

  get ran(): ISignal<IEditor, { path: string; cellId: string }> {
    return this._ran;
  }

  get failed(): ISignal<IEditor, { path: string; cellId: string }> {
    return this._failed;
  }

  get activeNotebook(): string | null {
    const active = this._documents.describe(this._app.shell.currentWidget);
    return active?.kind === 'notebook' ? active.path : null;
  }

  get activeDocument(): string | null {
    const active = this._documents.describe(this._app.shell.currentWidget);
    return active && active.kind !== 'file' ? active.path : null;
  }

  get openNotebooks(): readonly string[] {
    const paths = new Set<string>();
    this._tracker.forEach(panel => {
      const path = this._documents.pathOf(panel.context);
      if (path !== null) {
        paths.add(path);
      }
    });
    return [...paths];
  }

  kernel(path: string): IKernelState | null {
    const context = this._documents.findNotebook(path)?.sessionContext;
    return context
      ? {
          name: context.kernelDisplayName,
          status: statusOf(context) ?? 'unknown'
        }
      : null;
  }

  cell(path: string, cellId: string): ICellLabel | null {
    const found = this._find(path, cellId);
    return (
      found && {
        number: found.index + 1,
        firstLine: firstLineOf(found.cell)
      }
    );
  }

  cellCount(path: string): number | null {
    const panel = this._documents.findNotebook(path);
    return panel?.context.isReady
      ? (panel.model?.sharedModel.cells.length ?? null)
      : null;
  }

  listCells(path: string): readonly IListedCell[] {
    const model = this._documents.findNotebook(path)?.model;
    return [...(model?.sharedModel.cells ?? [])].map((cell, index) => ({
      cellId: cell.getId(),
      number: index + 1,
      firstLine: firstLineOf(cell),
      hasOutput: hasOutputs(model?.cells.get(index))
    }));
  }

  hints(path: string): INotebookHints {
    const model = this._documents.findNotebook(path)?.model;
    return model ? this._hints.of(model) : { isEmpty: true };
  }

  lexicalHints(path: string): ILexicalHints {
    const open = this._documents.files().find(each => each.path === path);
    return open?.context.isReady
      ? this._lexicalHints.of(open.context.model)
      : { isEmpty: false };
  }

  cellAt(node: Node): { path: string; cellId: string } | null {
    const panel = this._tracker.find(({ content }) =>
      content.node.contains(node)
    );
    const path = panel && this._documents.pathOf(panel.context);
    const cell = panel?.content.widgets.find(each => each.node.contains(node));
    return path && cell ? { path, cellId: cell.model.id } : null;
  }

  errorOf(path: string, cellId: string): INotebookError | null {
    const found = this._find(path, cellId);
    return found && errorIn(found.cell, found.index);
  }

  async reveal(path: string, cellId?: string): Promise<void> {
    if (!this._documents.findNotebook(path) || !cellId) {
      this._manager.openOrReveal(path);
    }
    if (!cellId) {
      return;
    }
    await this._documents.reveal(path, cellId, true);
    const panel = this._documents.findNotebook(path);
    const found = this._find(path, cellId);
    const cell = found && panel?.content.widgets[found.index];
    if (cell) {
      flash(cell);
    }
  }

  async openFirst(paths: readonly string[]): Promise<boolean> {
    const { contents } = this._manager.services;
    for (const path of paths) {
      const found = await contents
        .get(path, { content: false })
        .catch(error => {
          if (error instanceof ServerConnection.ResponseError) {
            return null; // Not there, or not to be seen.
          }
          throw error;
        });
      if (found?.type === 'directory') {
        await this._app.commands.execute('filebrowser:go-to-path', { path });
        return true;
      }
      if (found) {
        this._manager.openOrReveal(path);
        return true;
      }
    }
    return false;
  }

  async follow(path: string, cellId: string, since = Infinity): Promise<void> {
    const panel = this._documents.findNotebook(path);
    const isTheirs = panel?.node.contains(document.activeElement);
    if (!panel?.isVisible || isTheirs || !this.cell(path, cellId)) {
      return;
    }
    if (this.following.may(viewOf(panel.content), cellId, since)) {
      await this._documents.reveal(path, cellId, false);
    }
  }

  lessonCell(path: string, lesson: number): string | null {
    const cells = this._documents.findNotebook(path)?.model?.sharedModel.cells;
    const found = cells?.find(cell => {
      const about = cell.getMetadata('datalayer_agent') as
        | { lesson?: number }
        | undefined;
      return cell.cell_type === 'code' && about?.lesson === lesson;
    });
    return found?.getId() ?? null;
  }

  dataFiles(): Promise<string[]> {
    const near = PathExt.dirname(this.activeNotebook ?? '');
    return findDataFiles(this._manager.services.contents, near);
  }

  get markedScratchpad(): string | null {
    const current = this._tracker.currentWidget;
    const found =
      current && isMarked(current) ? current : this._tracker.find(isMarked);
    return found ? this._documents.pathOf(found.context) : null;
  }

  async openBeside(path: string): Promise<void> {
    const isOpen = !!this._documents.findNotebook(path);
    this._manager.openOrReveal(
      path,
      'default',
      undefined,
      // The notebook that the user works on stays the active one.
      isOpen || !this.activeNotebook
        ? {}
        : { mode: 'split-right', activate: false }
    );
  }

  cellContent(path: string, cellId: string): ICellContent | null {
    const cell = this._find(path, cellId)?.cell;
    if (!cell) {
      return null;
    }
    return cell.cell_type === 'code'
      ? {
          type: 'code',
          content: cell.getSource(),
          outputs: (cell.toJSON().outputs ?? []) as Record<string, unknown>[]
        }
      : { type: 'markdown', content: cell.getSource(), outputs: [] };
  }

  async openNew(name: string, content: string): Promise<string> {
    const { contents } = this._manager.services;
    const folder = PathExt.dirname(this.activeNotebook ?? '');
    const path = await freePath(contents, folder, name);
    await contents.save(path, {
      type: 'notebook',
      format: 'json',
      content: JSON.parse(content) as unknown
    });
    this._manager.openOrReveal(path);
    return path;
  }

  async chooseFiles(): Promise<string[]> {
    const { value } = await FileDialog.getOpenFiles({
      manager: this._manager,
      title: 'Attach files'
    });
    return (value ?? [])
      .filter(({ type }) => type !== 'directory')
      .map(({ path }) => this._manager.services.contents.localPath(path));
  }

  private _find(
    path: string,
    cellId: string
  ): { cell: SharedCell; index: number } | null {
    const panel = this._documents.findNotebook(path);
    if (!panel?.model) {
      return null;
    }
    const notebook = sharedNotebook(panel);
    const index = indexOf(notebook, cellId);
    return index < 0 ? null : { cell: notebook.cells[index], index };
  }

  private _follow(panel: NotebookPanel): void {
    const { context, sessionContext } = panel;
    this.following.watch(panel.content.outerNode);
    panel.disposed.connect(this._emit, this);
    context.pathChanged.connect(this._emit, this);
    sessionContext.statusChanged.connect(this._emit, this);
    sessionContext.connectionStatusChanged.connect(this._emit, this);
    void context.ready.then(
      () => {
        panel.model?.cells.changed.connect(this._emit, this);
        this._emit();
      },
      () => undefined
    );
    this._emit();
  }

  private _onCurrent(): void {
    const { currentWidget } = this._app.shell;
    const context =
      currentWidget && this._manager.contextForWidget(currentWidget);
    if (context && !context.isReady) {
      void context.ready.then(
        () => this._emit(),
        () => undefined
      );
    }
    this._emit();
  }

  private _emit(): void {
    this._changed.emit();
  }

  private readonly _hints = new DocumentHints(notebookHints);
  private readonly _lexicalHints = new DocumentHints(
    (model: DocumentRegistry.IModel) => lexicalHints(model.toString())
  );
  private readonly _ran = new Signal<IEditor, { path: string; cellId: string }>(
    this
  );
  private readonly _failed = new Signal<
    IEditor,
    { path: string; cellId: string }
  >(this);
  private readonly _changed = new Signal<IEditor, void>(this);
}

function hasOutputs(cell: ICellModel | undefined): boolean {
  return cell?.type === 'code' && (cell as ICodeCellModel).outputs.length > 0;
}

/** The first line of a cell that says something. */
function firstLineOf(cell: ISharedCell): string {
  const lines = cell.getSource().split('\n');
  return lines.find(line => line.trim()) ?? '';
}

/** A path in a folder that nothing has: `a.ipynb`, then `a-1.ipynb`. */
async function freePath(
  contents: Contents.IManager,
  folder: string,
  name: string
): Promise<string> {
  const listed = await contents.get(folder, { content: true });
  const taken = new Set(
    (listed.content as Contents.IModel[]).map(each => each.name)
  );
  const extension = PathExt.extname(name);
  const stem = PathExt.basename(name, extension);
  let free = name;
  for (let count = 1; taken.has(free); count++) {
    free = `${stem}-${count}${extension}`;
  }
  return PathExt.join(folder, free);
}

/** What of a notebook is on the screen. */
function viewOf({ outerNode, widgets }: Notebook): IFollowed {
  return {
    scroller: outerNode,
    isInView: cellId => {
      const cell = widgets.find(({ model }) => model.id === cellId);
      if (!cell?.isAttached) {
        return false;
      }
      const seen = outerNode.getBoundingClientRect();
      const { top, bottom } = cell.node.getBoundingClientRect();
      return bottom > seen.top && top < seen.bottom;
    }
  };
}

/** Show for a moment which cell was meant. */
function flash(cell: Widget): void {
  cell.addClass('da-mod-flash');
  setTimeout(() => cell.removeClass('da-mod-flash'), 1500);
}
