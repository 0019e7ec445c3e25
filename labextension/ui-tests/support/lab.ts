import { expect, Page } from '@playwright/test';

import { NotebookPage } from './notebook';
import { AgentPanel } from './panel';
import { LabServer } from './server';

/** A browser tab with JupyterLab. */
export class LabPage {
  constructor(
    readonly page: Page,
    readonly server: LabServer,
    readonly folder: string
  ) {
    this.panel = new AgentPanel(page);
  }

  readonly panel: AgentPanel;

  /** Load JupyterLab with a document of the test's folder in front and the panel shown. */
  async load(name: string): Promise<void> {
    const { url, token } = this.server.about;
    const path = `${this.folder}/${name}`;
    await this.page.goto(
      `${url}lab/workspaces/${this.folder}/tree/${path}?token=${token}`
    );
    await this.shown();
  }

  /** Wait until JupyterLab and the panel are there. */
  async shown(): Promise<void> {
    await this.page.waitForFunction(() => window.jupyterapp !== undefined);
    await this.page.evaluate(() => window.jupyterapp.restored);
    await expect(this.panel.input).toBeVisible();
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

  /** From now on close JupyterLab's own dialogs (it lost the server, a kernel died). */
  async closeDialogs(): Promise<void> {
    const close = this.page.locator('.jp-Dialog .jp-mod-accept').first();
    await this.page.addLocatorHandler(close, () => close.click());
  }

  /** The name of the document in front. */
  front(): Promise<string> {
    return this.page.evaluate(
      () => window.jupyterapp.shell.currentWidget?.title.label ?? ''
    );
  }
}
