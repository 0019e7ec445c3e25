import { JupyterFrontEnd } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import {
  DocumentRegistry,
  DocumentWidget,
  IDocumentWidget
} from '@jupyterlab/docregistry';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Contents } from '@jupyterlab/services';
import { DockPanel, Widget } from '@lumino/widgets';

import { ActiveDocument, DocumentText, PageRequestError } from '../api';
import { indexOf, sharedNotebook } from './cells';
import { isLexical } from './documentKind';
import { hashSource } from './edits/hash';
import { noteOpened } from './edits/placeholder';
import { reloadIfNewer } from './reload';
import { within } from './waiting';

/** How long a document may take to load, in ms. */
const LOAD_MS = 30_000;

/** How long the kernel of a notebook that was opened is waited for, in ms. */
const KERNEL_MS = 10_000;

type Context = DocumentRegistry.Context;

/** The documents that are open in the page, by their paths under the server root. */
export class Documents {
  constructor(
    private readonly _shell: JupyterFrontEnd.IShell,
    private readonly _tracker: INotebookTracker,
    private readonly _manager: IDocumentManager
  ) {}

  /** An open notebook, loaded; throws `not_open`. */
  async notebook(path: string): Promise<NotebookPanel> {
    const panel = this.findNotebook(path);
    if (!panel) {
      throw new PageRequestError(
        'not_open',
        `${path} is not open in the page.`
      );
    }
    await within(
      LOAD_MS,
      Promise.all([panel.context.ready, panel.revealed]),
      () => notLoaded(path)
    );
    return panel;
  }

  /** The view of an open notebook; of several, the one that the user used last. */
  findNotebook(path: string): NotebookPanel | undefined {
    const isIt = (panel: NotebookPanel) =>
      this.pathOf(panel.context) === normalized(path);
    const current = this._tracker.currentWidget;
    return current && isIt(current) ? current : this._tracker.find(isIt);
  }

  /** What the active document of the main area is, if the agent can know. */
  describe(widget: Widget | null): ActiveDocument | undefined {
    const context = widget && this._manager.contextForWidget(widget);
    const path = context && this.pathOf(context);
    if (!widget || !context || path === null || path === undefined) {
      return undefined;
    }
    if (this._tracker.has(widget)) {
      return { path, kind: 'notebook' };
    }
    if (isLexical(path)) {
      return { path, kind: 'lexical' };
    }
    return this._isText(context) ? { path, kind: 'file' } : undefined;
  }

  /**
   * The text of an open file, with what is not saved yet; left out where its hash is the known one,
   * that of the file: nothing newer is on the disk then.
   */
  async read(path: string, knownHash?: string): Promise<DocumentText> {
    const widget = await this._loadedText(path);
    const { model, contentsModel } = widget.context;
    const { name: language } = this._manager.registry.getFileTypeForModel(
      contentsModel!
    );
    if (knownHash !== undefined && hashSource(model.toString()) === knownHash) {
      return { path, language };
    }
    await reloadIfNewer(widget, this._manager.services.contents);
    return { path, content: model.toString(), language };
  }

  /** An open text file, loaded and, unless it has unsaved changes, as it is on the disk. */
  async text(path: string): Promise<IDocumentWidget> {
    const widget = await this._loadedText(path);
    await reloadIfNewer(widget, this._manager.services.contents);
    return widget;
  }

  /** The documents that are open, each once. */
  contexts(): readonly Context[] {
    const found = [...this._shell.widgets('main')].flatMap(
      widget => this._manager.contextForWidget(widget) ?? []
    );
    return [...new Set(found)];
  }

  /** The documents that are no notebooks, whether they are loaded or not; each file once. */
  files(): readonly { path: string; context: Context; isText: boolean }[] {
    const found = new Map<string, Context>();
    for (const widget of this._shell.widgets('main')) {
      const context = this._manager.contextForWidget(widget);
      const path = context && this.pathOf(context);
      if (context && path && !this._tracker.has(widget)) {
        found.set(path, context);
      }
    }
    return [...found].map(([path, context]) => ({
      path,
      context,
      isText: this._isText(context)
    }));
  }

  /**
   * Open a document, or show it, as JupyterLab's current one, and leave the keyboard where it is.
   * While the user works in the main area, a new document waits in a tab behind theirs.
   */
  async open(path: string): Promise<void> {
    let widget = this._findWidget(path);
    const isNew = !widget;
    if (!widget) {
      await this._refuseMissing(path);
      widget = this._manager.openOrReveal(path, 'default', undefined, {
        activate: false
      });
    }
    const context = widget && this._manager.contextForWidget(widget);
    if (!widget || !context) {
      throw new PageRequestError('invalid', `${path} cannot be opened.`);
    }
    show(widget, isNew);
    await within(LOAD_MS, context.ready, () => notLoaded(path));
    if (isNew && widget instanceof NotebookPanel) {
      noteOpened(widget);
      await kernelStarted(widget);
    }
  }

  /** Delete a document as the file browser does: its kernel ends, and its tabs close. */
  async delete(path: string): Promise<void> {
    const context = this._findContext(path);
    if (!context) {
      throw new PageRequestError(
        'not_open',
        `${path} is not open in the page.`
      );
    }
    await this._manager.deleteFile(context.path);
  }

  /**
   * Scroll a cell into view. With `activate` (the user asked for it) its notebook becomes the
   * active document and it the active cell; without, the focus stays where it is.
   */
  async reveal(path: string, cellId: string, activate: boolean): Promise<void> {
    const panel = await this.notebook(path);
    const index = indexOf(sharedNotebook(panel), cellId);
    if (index < 0) {
      throw new PageRequestError(
        'not_found',
        `The notebook has no cell ${cellId}.`
      );
    }
    if (activate) {
      this._shell.activateById(panel.id);
      panel.content.deselectAll();
      panel.content.activeCellIndex = index;
    } else {
      show(panel);
    }
    await panel.content.scrollToItem(index, 'smart');
  }

  /** A document's path under the server root; null for one that is elsewhere. */
  pathOf(context: Pick<Context, 'path' | 'localPath'>): string | null {
    const drive = this._manager.services.contents.driveName(context.path);
    // Collaboration opens the server's own files under this drive.
    return drive === '' || drive === 'RTC'
      ? normalized(context.localPath)
      : null;
  }

  /** An open text file, loaded. */
  private async _loadedText(path: string): Promise<DocumentWidget> {
    const widget = this._findWidget(path);
    const context = widget && this._manager.contextForWidget(widget);
    if (!context || !(widget instanceof DocumentWidget)) {
      throw new PageRequestError(
        'not_open',
        `${path} is not open in the page.`
      );
    }
    await within(LOAD_MS, context.ready, () => notLoaded(path));
    if (!this._isText(context)) {
      throw new PageRequestError('invalid', `${path} is not a text file.`);
    }
    return widget;
  }

  /** Whether it shows text; false until it is loaded. */
  private _isText({ contentsModel }: Context): boolean {
    if (contentsModel?.type !== 'file') {
      return false;
    }
    // After a save the format is not known any more.
    const format =
      (contentsModel.format as Contents.FileFormat | undefined) ??
      this._manager.registry.getFileTypeForModel(contentsModel).fileFormat;
    return format === 'text';
  }

  /** A file that is not there would open a dialog. */
  private async _refuseMissing(path: string): Promise<void> {
    try {
      await this._manager.services.contents.get(path, { content: false });
    } catch {
      throw new PageRequestError('not_found', `There is no file ${path}.`);
    }
  }

  private _findContext(path: string): Context | undefined {
    const widget = this._findWidget(path);
    return widget && this._manager.contextForWidget(widget);
  }

  private _findWidget(path: string): Widget | undefined {
    for (const widget of this._shell.widgets('main')) {
      const context = this._manager.contextForWidget(widget);
      if (context && this.pathOf(context) === normalized(path)) {
        return widget;
      }
    }
    return undefined;
  }
}

/**
 * Select a document's tab, unless the user works in the main area. What comes into view so becomes
 * JupyterLab's current document, which its menus, its status bar and the agent are about.
 */
function show(widget: Widget, isNew = false): void {
  const dock = widget.parent;
  if (
    dock instanceof DockPanel &&
    !dock.node.contains(document.activeElement)
  ) {
    const wasShown = widget.isVisible && !isNew;
    dock.selectWidget(widget);
    if (!wasShown) {
      makeCurrent(widget);
    }
  }
}

/**
 * JupyterLab takes the document that had the focus last for its current one, and has no other way
 * to be notified. The events come without the focus, which stays where the user types.
 */
function makeCurrent({ node }: Widget): void {
  node.dispatchEvent(new FocusEvent('focus'));
  node.dispatchEvent(new FocusEvent('blur'));
}

function normalized(path: string): string {
  return path.replace(/^\/+/, '');
}

function notLoaded(path: string): PageRequestError {
  return new PageRequestError('not_open', `${path} has not been loaded yet.`);
}

/**
 * The page starts a kernel for a notebook that it opens. Were it not waited for, the server would
 * find none, start another one, and each would know half of what was run.
 *
 * Where none can be started, or the user is asked for one, that is not waited for any longer.
 */
async function kernelStarted(panel: NotebookPanel): Promise<void> {
  const late = () => new Error('The kernel has not started yet.');
  await within(KERNEL_MS, panel.sessionContext.ready, late).catch(
    () => undefined
  );
}
