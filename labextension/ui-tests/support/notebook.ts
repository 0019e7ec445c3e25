import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICell } from '@jupyterlab/nbformat';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { expect, Locator, Page } from '@playwright/test';

declare global {
  interface Window {
    jupyterapp: JupyterFrontEnd;
  }
}

/** Where the user is in a notebook. */
export interface IView {
  mode: string;
  activeCellId: string;
  cursor: { line: number; column: number } | null;
  hasFocus: boolean;
}

/** An open notebook in JupyterLab, as a user sees it and as its shared model holds it. */
export class NotebookPage {
  constructor(
    private readonly _page: Page,
    readonly path: string
  ) {
    this.cells = this._page.locator(
      `.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell`
    );
  }

  /** The cells of the active notebook. */
  readonly cells: Locator;

  /** The text field of a cell, by its number from 0. */
  editor(index: number): Locator {
    return this.cells.nth(index).locator('.cm-content').first();
  }

  output(index: number): Locator {
    return this.cells.nth(index).locator('.jp-OutputArea-output').first();
  }

  prompt(index: number): Locator {
    return this.cells.nth(index).locator('.jp-InputPrompt').first();
  }

  /** Wait until the notebook is open; its kernel may still start. */
  async ready(): Promise<void> {
    await this._page.waitForFunction(path => {
      const panels = window.jupyterapp?.shell.widgets('main') ?? [];
      return [...panels].some(widget => {
        const { context } = widget as NotebookPanel;
        return context?.path === path && context.isReady;
      });
    }, this.path);
  }

  /** Wait until the notebook's kernel has nothing to do. */
  async kernelReady(): Promise<void> {
    await this._kernelIs('idle');
  }

  /** Wait until the notebook's kernel has begun what it is to do. */
  async kernelBusy(): Promise<void> {
    await this._kernelIs('busy');
  }

  /** The cells of the document as they would be saved. */
  content(): Promise<ICell[]> {
    return this._do(panel =>
      (panel!.model!.sharedModel.toJSON().cells as ICell[]).map(cell => {
        // JupyterLab's own, which is not in files.
        const { trusted: _, ...metadata } = cell.metadata;
        return { ...cell, metadata };
      })
    );
  }

  /** The sources of all cells. */
  sources(): Promise<string[]> {
    return this._do(panel =>
      panel!.model!.sharedModel.cells.map(cell => cell.getSource())
    );
  }

  /** Click into a cell's editor, so that it has the cursor. */
  async edit(index: number): Promise<void> {
    await this.editor(index).click();
    await expect(this.editor(index)).toBeFocused();
  }

  /** Put the cursor at the end of a cell and type. */
  async type(index: number, text: string): Promise<void> {
    await this.edit(index);
    await this._page.keyboard.press('Control+End');
    await this._page.keyboard.type(text);
  }

  /** Run a cell as a user does: JupyterLab ignores it while the page still looks for a kernel. */
  async run(index: number): Promise<void> {
    await this._kernelIs('idle', 'busy');
    await this.edit(index);
    await this._page.keyboard.press('Control+Enter');
  }

  /** Wait until a cell has run: its outputs are shown before its number. */
  async ran(index: number): Promise<void> {
    await expect(this.prompt(index)).toHaveText(/^\[\d+\]:$/);
  }

  /** The notebook's own undo: Z in command mode. */
  async undo(): Promise<void> {
    await this._page.keyboard.press('Escape');
    await this._page.keyboard.press('z');
  }

  view(): Promise<IView> {
    return this._do(panel => {
      const { mode, activeCell, node } = panel!.content;
      return {
        mode,
        activeCellId: activeCell!.model.id,
        cursor: activeCell!.editor?.getCursorPosition() ?? null,
        hasFocus: node.contains(document.activeElement)
      };
    });
  }

  /** Whether the document has something that is not on disk. */
  isDirty(): Promise<boolean> {
    return this._do(panel => panel!.model!.dirty);
  }

  /** By its context: JupyterLab's command does nothing while an earlier save still makes its checkpoint. */
  async save(): Promise<void> {
    await this._do(panel => panel!.context.save());
  }

  kernelId(): Promise<string | undefined> {
    return this._do(panel => panel?.sessionContext.session?.kernel?.id);
  }

  private async _kernelIs(...statuses: ('idle' | 'busy')[]): Promise<void> {
    await this._page.waitForFunction(
      ({ path, wanted }) => {
        const panels = window.jupyterapp?.shell.widgets('main') ?? [];
        return [...panels].some(widget => {
          const { context, sessionContext } = widget as NotebookPanel;
          const status = sessionContext?.session?.kernel?.status;
          return context?.path === path && wanted.some(each => each === status);
        });
      },
      { path: this.path, wanted: statuses }
    );
  }

  private _do<T>(act: (panel: NotebookPanel | undefined) => T): Promise<T> {
    return this._page.evaluate(
      ({ path, source }) => {
        const panel = [...window.jupyterapp.shell.widgets('main')].find(
          widget =>
            (widget as NotebookPanel).context?.path === path &&
            'sessionContext' in widget
        );
        return (new Function(`return (${source})`)() as (p: unknown) => T)(
          panel
        );
      },
      { path: this.path, source: act.toString() }
    ) as Promise<T>;
  }
}
