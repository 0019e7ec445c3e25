import { JupyterFrontEnd } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';

import { forEachLoadedNotebook } from '../../notebook/forEachNotebook';
import { PanelModel } from '../model';
import { isMarked, isScratchpad, mark } from './about';
import { CellLabels, OpenSession, OpenTurn } from './labels';

/** Ids of the scratchpad's commands. */
export const CommandIDs = {
  open: 'datalayer-agent:open-scratchpad',
  toggle: 'datalayer-agent:toggle-scratchpad'
} as const;

/** What the scratchpad's parts of JupyterLab work with. */
export interface IScratchpadOptions {
  app: JupyterFrontEnd;
  tracker: INotebookTracker;
  palette: ICommandPalette | null;
  model: PanelModel;
  rendermime: IRenderMimeRegistry;
  openSettings: () => void;
  openTurn: OpenTurn;
  openSession: OpenSession;
}

/** Labels on cells that come from conversations, the box above scratchpads, and the commands. */
export function addScratchpad(options: IScratchpadOptions): void {
  forEachLoadedNotebook(options.tracker, panel => dress(panel, options));
  addCommands(options);
}

function dress(panel: NotebookPanel, options: IScratchpadOptions): void {
  new CellLabels(panel, options.openTurn, options.openSession);
  const box = new BoxAbove(panel, options);
  const { context, model } = panel;
  const update = () => void box.update();
  context.pathChanged.connect(update);
  model?.metadataChanged.connect(update);
  // Another view of the document may outlive this one.
  panel.disposed.connect(() => {
    context.pathChanged.disconnect(update);
    model?.metadataChanged.disconnect(update);
  });
  update();
}

/** The Strategist's box above a notebook, as long as that is a scratchpad. */
class BoxAbove {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _options: IScratchpadOptions
  ) {}

  async update(): Promise<void> {
    const { model, rendermime, openSettings } = this._options;
    // Not before one is needed: it is drawn by React.
    const made = isScratchpad(this._panel) && (await import('./bar'));
    const isWanted = !this._panel.isDisposed && isScratchpad(this._panel);
    if (!isWanted) {
      this._bar?.dispose();
      this._bar = null;
    } else if (made && !this._bar) {
      this._bar = new made.StrategistBar({
        model,
        rendermime,
        openSettings,
        path: () => this._panel.context.localPath
      });
      this._panel.contentHeader.insertWidget(0, this._bar);
    }
  }

  private _bar: Widget | null = null;
}

function addCommands(options: IScratchpadOptions): void {
  const { app, tracker, palette, model } = options;
  const noArguments = { args: { type: 'object', properties: {} } } as const;
  app.commands.addCommand(CommandIDs.open, {
    label: "Open the Agent's Scratchpad",
    describedBy: noArguments,
    execute: () => model.scratchpad.open()
  });
  app.commands.addCommand(CommandIDs.toggle, {
    label: 'Use This Notebook as a Scratchpad',
    describedBy: noArguments,
    isToggleable: true,
    isToggled: () => !!tracker.currentWidget && isMarked(tracker.currentWidget),
    isEnabled: () => !!tracker.currentWidget,
    execute: () => {
      const panel = tracker.currentWidget;
      if (panel) {
        mark(panel, !isMarked(panel));
      }
    }
  });
  for (const command of Object.values(CommandIDs)) {
    palette?.addItem({ command, category: 'Agent' });
  }
}
