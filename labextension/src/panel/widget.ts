import { Message } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';

import { agentIcon } from '../ui/icons';
import { PanelModel } from './model';
import type { IPanelViewOptions, PanelView } from './view';

/** Id of the panel in JupyterLab's shell. */
export const PANEL_ID = 'datalayer-agent-panel';

/** The panel in the sidebar: an empty frame until it is first shown. */
export class AgentPanel extends Widget {
  constructor(
    readonly model: PanelModel,
    private readonly _viewOptions: Omit<IPanelViewOptions, 'model'>,
    /** Called when the panel is first seen. */
    private readonly _onFirstShown: (panel: AgentPanel) => Promise<void>
  ) {
    super();
    this.id = PANEL_ID;
    this.addClass('da-panel');
    this.node.dataset.testid = 'da-panel';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Agent');
    this.title.icon = agentIcon;
    this.title.caption = 'Agent';
    this.layout = new PanelLayout();
  }

  /** Put the cursor into the input once it is there. */
  async focusInput(): Promise<void> {
    const view = await this._load();
    view?.focusInput();
  }

  /** Resolves when the session that the page showed last is there. */
  async ready(): Promise<void> {
    await this._load();
    await this._started;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.model.dispose();
      super.dispose();
    }
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    void this._load();
  }

  protected onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this.isVisible) {
      void this._load();
    }
  }

  private _load(): Promise<PanelView | null> {
    if (!this._view) {
      void this._onFirstShown(this);
    }
    this._view ??= this._makeView().catch((error: unknown) => {
      this._view = null;
      this.node.textContent = 'The panel could not be loaded.';
      console.error('datalayer-agent: the panel could not be loaded', error);
      return null;
    });
    return this._view;
  }

  private async _makeView(): Promise<PanelView> {
    // What is to be shown comes while the code that shows it is loaded.
    this._started ??= this.model.start();
    const { PanelView: View } = await import('./view');
    const view = new View({ ...this._viewOptions, model: this.model });
    (this.layout as PanelLayout).addWidget(view);
    return view;
  }

  private _view: Promise<PanelView | null> | null = null;
  private _started: Promise<void> | null = null;
}
