import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { isCodeCellModel } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import {
  KEY,
  isHeldBack,
  isMadeByAgent,
  widgetOf
} from '../notebook/agentMark';
import { forEachLoadedNotebook } from '../notebook/forEachNotebook';
import { ShownDocuments } from '../notebook/shownDocuments';
import { trustAgentsOutputs } from '../notebook/trust';
import { IShownDocuments } from '../tokens';
import { AgentComms } from './agentComms';
import { holdComms } from './comms';
import { holdBack } from './registry';

/**
 * Holds back what the agent made and what would act in the page, or call another server, by being
 * shown: outputs of its runs, widgets, and pictures in the Markdown cells that it wrote.
 */
export const heldPlugin: JupyterFrontEndPlugin<ShownDocuments> = {
  id: 'jupyter-datalayer-agent:held',
  description: 'Holds back what the agent made until the user has it shown.',
  autoStart: true,
  provides: IShownDocuments,
  requires: [
    IRenderMimeRegistry,
    INotebookTracker,
    NotebookPanel.IContentFactory
  ],
  activate: (
    { serviceManager }: JupyterFrontEnd,
    rendermime: IRenderMimeRegistry,
    tracker: INotebookTracker,
    factory: NotebookPanel.IContentFactory
  ): ShownDocuments => {
    const shown = new ShownDocuments();
    const comms = new AgentComms();
    const waits = (widget: string) => comms.waits(widget);
    const { held } = comms;
    holdBack(rendermime, { shown, waits, held });
    holdComms(serviceManager, shown, comms, path => viewsIn(tracker, path));
    const code = factory.createCodeCell.bind(factory);
    factory.createCodeCell = options => {
      const cell = code(options);
      const headings = cell.getHeadings.bind(cell);
      // JupyterLab looks for them in elements of the page, where pictures are loaded.
      cell.getHeadings = async () =>
        options.model.outputs.toJSON().some(isHeldBack) ? [] : headings();
      return cell;
    };
    const markdown = factory.createMarkdownCell.bind(factory);
    factory.createMarkdownCell = options =>
      markdown({
        ...options,
        rendermime: holdBack(options.rendermime.clone(), {
          shown,
          waits,
          held,
          cell: () => ({ [KEY]: options.model.getMetadata(KEY) })
        })
      });
    forEachLoadedNotebook(tracker, panel => followTrust(panel, shown));
    return shown;
  }
};

/** The ids of the widgets that the agent's outputs in a notebook show. */
function viewsIn(tracker: INotebookTracker, path: string): string[] {
  const panel = tracker.find(({ context }) => context.path === path);
  const outputs = [...(panel?.model?.cells ?? [])]
    .filter(cell => isCodeCellModel(cell))
    .flatMap(cell => cell.outputs.toJSON());
  return outputs
    .filter(({ metadata }) => isMadeByAgent(metadata))
    .map(({ data }) => widgetOf(data))
    .filter(id => id !== null);
}

/** What is held back is not signed with the notebook, however it got there, until it is shown. */
function followTrust(panel: NotebookPanel, shown: ShownDocuments): void {
  const { context } = panel;
  const onShown = (_: unknown, path: string) => {
    if (path === context.path && panel.model) {
      trustAgentsOutputs(panel.model, true);
    }
  };
  context.saveState.connect((_, state) => {
    if (state === 'started' && panel.model && !shown.has(context.path)) {
      trustAgentsOutputs(panel.model, false);
    }
  });
  shown.shown.connect(onShown);
  panel.disposed.connect(() => shown.shown.disconnect(onShown));
}
