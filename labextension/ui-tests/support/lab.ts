import type { NotebookPanel } from '@jupyterlab/notebook';
import { expect, Page } from '@playwright/test';

import { NotebookPage } from './notebook';
import { AgentPanel } from './panel';
import { LabServer } from './server';

/** How smoothly something went: the time between frames, and the tasks over 50 ms. */
export interface ISmoothness {
  frames: number;
  medianMs: number;
  worstMs: number;
  longTasksMs: number;
  longestTaskMs: number;
}

/** A part of the main area as JupyterLab saves it. */
interface IDock {
  widgets?: string[];
  children?: IDock[];
}

interface IWorkspace {
  data: {
    'layout-restorer:data'?: { main?: { current?: string; dock?: IDock } };
  };
}

function tabsIn(dock: IDock | null): number {
  const { widgets = [], children = [] } = dock ?? {};
  return widgets.length + children.reduce((sum, each) => sum + tabsIn(each), 0);
}

export const WINDOW = { width: 1280, height: 800 };
/** What the panel takes of it when it is first opened. */
const PANEL_WIDTH = 380;

let workspaces = 0;

/** A browser tab with JupyterLab. */
export class LabPage {
  constructor(
    readonly page: Page,
    readonly server: LabServer,
    readonly folder: string,
    // JupyterLab moves a tab out of a workspace that another tab is in.
    private readonly _workspace = `${folder}-${++workspaces}`,
    private _isTakenOver = false
  ) {
    this.panel = new AgentPanel(page);
  }

  readonly panel: AgentPanel;

  /** How often it was, by `loadAgain`. */
  loadedAgain = 0;

  /** Whether nothing of the test would act in the next one. */
  canBeKept = true;

  /** Load JupyterLab with a document of the test's folder, until it is active and the panel shown. */
  async load(name: string): Promise<void> {
    if (this._isTakenOver) {
      this._isTakenOver = false;
      await this._begin();
      await this.open(name);
      await this._revealed();
      return;
    }
    const { url, token } = this.server.about;
    const path = `${this.folder}/${name}`;
    await this.page.goto(
      `${url}lab/workspaces/${this._workspace}/tree/${path}?token=${token}`
    );
    await this.shown();
    // It is activated some time after all else is there, and would hide what a test opened before. And
    // a server that is ended while it reads a notebook never ends: Python waits for anyio's thread of
    // a request whose event loop was stopped (jupyterlab#10442).
    await this.page.waitForFunction(opened => {
      const current = window.jupyterapp.shell.currentWidget as NotebookPanel;
      return current?.context?.localPath === opened;
    }, path);
    await this._revealed();
  }

  /** Load a notebook of the test's folder in Notebook 7, which the same server serves. */
  async loadNotebook7(name: string): Promise<void> {
    const { url, token } = this.server.about;
    await this.page.goto(
      `${url}notebooks/${this.folder}/${name}?token=${token}`
    );
    await this.page.waitForFunction(() => window.jupyterapp !== undefined);
    await this.page.evaluate(() => window.jupyterapp.restored);
  }

  /**
   * Load JupyterLab again, as it was left. At a mere reload the document that the address names is
   * activated once more, at some time after all else was restored: it takes the keyboard from
   * whatever a test does meanwhile.
   */
  async loadAgain(): Promise<void> {
    this.loadedAgain++;
    const { url, token } = this.server.about;
    await this._layoutSaved();
    await this.page.goto(
      `${url}lab/workspaces/${this._workspace}?token=${token}`
    );
    await this.shown();
    await this._revealed();
  }

  /** Wait until the current document is there: JupyterLab gives it the keyboard then. */
  private async _revealed(): Promise<void> {
    await this.page.evaluate(
      () => (window.jupyterapp.shell.currentWidget as NotebookPanel).revealed
    );
  }

  /** Wait until JupyterLab, which saves the layout some time after its last change, saved it as it is now. */
  private async _layoutSaved(): Promise<void> {
    const { open, current } = await this.page.evaluate(() => {
      const { shell } = window.jupyterapp;
      return {
        // Not the launcher, which JupyterLab opens where nothing else is, and does not save.
        open: [...shell.widgets('main')].filter(
          widget => !widget.id.startsWith('launcher-')
        ).length,
        current: (shell.currentWidget as NotebookPanel).context?.path ?? ''
      };
    });
    await expect
      .poll(async () => {
        const { data } = await this.server.api<IWorkspace>(
          `lab/api/workspaces/${this._workspace}`
        );
        const { main } = data['layout-restorer:data'] ?? {};
        return {
          open: tabsIn(main?.dock ?? null),
          isCurrent: main?.current?.endsWith(current)
        };
      })
      .toEqual({ open, isCurrent: true });
  }

  /** The same tab for the next test, which has a folder of its own. */
  inFolder(folder: string): LabPage {
    return new LabPage(this.page, this.server, folder, this._workspace, true);
  }

  /** Close all documents as they are; the window and the panel get the size that they have at first. */
  async leave(): Promise<void> {
    // One that nobody expected would be in the way of the next test.
    await expect(this.page.locator('.jp-Dialog')).toHaveCount(0);
    await this.page.unrouteAll();
    await this.page.setViewportSize(WINDOW);
    const { width } = (await this.panel.root.boundingBox())!;
    if (Math.abs(width - PANEL_WIDTH) > 10) {
      await this.panelWidth(PANEL_WIDTH);
    }
    await this.page.evaluate(async () => {
      const widgets = [...window.jupyterapp.shell.widgets('main')];
      // After a reload JupyterLab goes on restoring for a while.
      await Promise.all(
        widgets.map(widget => (widget as NotebookPanel).context?.ready)
      );
      for (const widget of widgets) {
        const { context } = widget as NotebookPanel;
        if (context?.model) {
          context.model.dirty = false;
        }
        widget.close();
      }
    });
    await expect(
      this.page.locator('#jp-main-dock-panel .jp-Document')
    ).toHaveCount(0);
  }

  /** A new session, with nothing chosen yet. */
  private async _begin(): Promise<void> {
    const { root } = this.panel;
    const card = root.getByRole('button', { name: /^Close: / });
    if (await card.count()) {
      await card.click();
      await expect(card).toHaveCount(0);
    }
    await root.getByTestId('da-new-session').click();
    await expect(this.panel.turns).toHaveCount(0);
    // The switch is there in Agent mode only, and remembered in others.
    await this.panel.mode('agent');
    const planFirst = root.locator(
      '[data-testid="da-plan-first"][aria-checked="true"]'
    );
    if (await planFirst.count()) {
      await planFirst.click();
    }
    await this.panel.input.fill('');
    await this.panel.mode('ask');
    const chips = await this.panel.attachments.count();
    for (let chip = chips; chip--;) {
      await this.panel.attachments
        .nth(chip)
        .getByRole('button', { name: 'Remove' })
        .click();
    }
    await this.page.evaluate(async path => {
      await window.jupyterapp.commands.execute('filebrowser:go-to-path', {
        path
      });
    }, this.folder);
  }

  /** Wait until JupyterLab and the panel are there. */
  async shown(): Promise<void> {
    await this.page.waitForFunction(() => window.jupyterapp !== undefined);
    await this.page.evaluate(() => window.jupyterapp.restored);
    await expect(this.panel.input).toBeVisible();
  }

  /** Wait until JupyterLab has given the keyboard to the document that it opened. */
  async hasKeyboard(): Promise<void> {
    await this.page.waitForFunction(() =>
      window.jupyterapp.shell.currentWidget?.node.contains(
        document.activeElement
      )
    );
  }

  /** A notebook of the test's folder. */
  notebook(name: string): NotebookPage {
    return new NotebookPage(this.page, `${this.folder}/${name}`);
  }

  /** Open another document, which then is the active one. */
  async open(name: string): Promise<void> {
    await this.page.evaluate(async path => {
      await window.jupyterapp.commands.execute('docmanager:open', { path });
    }, `${this.folder}/${name}`);
  }

  /**
   * From now on close JupyterLab's own dialogs (it lost the server, a kernel died), or those alone
   * whose title begins so.
   */
  async closeDialogs(title = ''): Promise<void> {
    this.canBeKept = false;
    const close = this.page
      .locator(
        `.jp-Dialog${title && `[aria-label^="${title}"]`} .jp-Dialog-button`
      )
      .first();
    // JupyterLab may show the next one at once, so that Playwright is not to wait for none. This one is
    // waited for: when it is gone, JupyterLab puts the focus back to where it was before.
    const dismiss = async () => {
      const shown = await close.elementHandle();
      await close.click();
      await shown?.waitForElementState('hidden');
    };
    await this.page.addLocatorHandler(close, dismiss, { noWaitAfter: true });
  }

  /** The name of the active document. */
  front(): Promise<string> {
    return this.page.evaluate(
      () => window.jupyterapp.shell.currentWidget?.title.label ?? ''
    );
  }

  /** Drag the border of the right sidebar until the panel has this width. */
  async panelWidth(width: number): Promise<void> {
    const { mouse } = this.page;
    const border = this.page
      .locator('#jp-main-split-panel > .lm-SplitPanel-handle:visible')
      .last();
    // It waits until the border stops moving.
    await border.hover();
    const box = (await this.panel.root.boundingBox())!;
    const y = box.y + box.height / 2;
    await mouse.move(box.x - 2, y);
    await mouse.down();
    await mouse.move(box.x - 2 + (box.width - width), y, { steps: 4 });
    await mouse.up();
    await expect
      .poll(async () => (await this.panel.root.boundingBox())!.width)
      .toBeCloseTo(width, -1);
  }

  /** Do something and measure how smoothly the page went meanwhile. */
  async measure(act: () => Promise<unknown>): Promise<ISmoothness> {
    await this.page.evaluate(() => {
      const frames: number[] = [];
      let longTasksMs = 0;
      let longestTaskMs = 0;
      let last = performance.now();
      let isOver = false;
      const observer = new PerformanceObserver(list =>
        list.getEntries().forEach(({ duration }) => {
          longTasksMs += duration;
          longestTaskMs = Math.max(longestTaskMs, duration);
        })
      );
      observer.observe({ entryTypes: ['longtask'] });
      const frame = (now: number) => {
        frames.push(now - last);
        last = now;
        if (!isOver) {
          requestAnimationFrame(frame);
        }
      };
      requestAnimationFrame(frame);
      Object.assign(window, {
        endMeasuring: () => {
          isOver = true;
          observer.disconnect();
          const sorted = frames.slice(1).sort((a, b) => a - b);
          return {
            frames: sorted.length,
            medianMs: sorted[sorted.length >> 1],
            worstMs: sorted[sorted.length - 1],
            longTasksMs,
            longestTaskMs
          };
        }
      });
    });
    await act();
    return this.page.evaluate(() =>
      (window as unknown as { endMeasuring: () => ISmoothness }).endMeasuring()
    );
  }
}
