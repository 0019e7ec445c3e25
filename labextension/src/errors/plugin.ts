import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { CodeCell } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/pageConnection';
import { Documents } from '../notebook/documents';
import { IInlineChats } from '../inline/token';
import { IAgentClient, IAgentConnection, IDocuments } from '../tokens';
import type { ErrorController } from './controller';
import { failureOf } from '../notebook/kernel/failure';
import { forEachNotebook } from '../notebook/forEachNotebook';

const PLUGIN_ID = 'jupyter-datalayer-agent:errors';

/** Ids of the commands on the error of the active cell. */
export const CommandIDs = {
  fix: 'datalayer-agent:fix-cell',
  fixAndRun: 'datalayer-agent:fix-and-run-cell',
  explain: 'datalayer-agent:explain-cell'
} as const;

/** Fix and Explain at the errors that cells show. */
export const errorsPlugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'Fix and Explain at the error of a cell.',
  autoStart: true,
  requires: [
    IAgentClient,
    IAgentConnection,
    IDocuments,
    IInlineChats,
    INotebookTracker
  ],
  optional: [ICommandPalette, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    client: AgentClient,
    connection: IPageConnection,
    documents: Documents,
    chats: IInlineChats,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    registry: ISettingRegistry | null
  ): void => {
    const settings = registry?.load(PLUGIN_ID).catch(() => null);
    let controller: Promise<ErrorController> | null = null;
    const load = async () => {
      const [module, own] = await Promise.all([
        import('./controller'),
        settings
      ]);
      return new module.ErrorController({
        tracker,
        chats,
        connection,
        documents,
        client,
        hints: () => own?.get('hints').composite === true
      });
    };
    // With the first notebook, and not before.
    forEachNotebook(tracker, () => void (controller ??= load()));
    addCommands(app, tracker, act => {
      const failed = failedCell(app, tracker);
      if (failed) {
        void (controller ??= load()).then(each => act(each, ...failed));
      }
    });
    Object.values(CommandIDs).forEach(command =>
      palette?.addItem({ command, category: 'Agent' })
    );
  }
};

type Act = (
  controller: ErrorController,
  panel: NotebookPanel,
  cell: CodeCell
) => void;

function addCommands(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  act: (act: Act) => void
): void {
  const add = (id: string, label: string, caption: string, does: Act) =>
    app.commands.addCommand(id, {
      label,
      caption,
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => failedCell(app, tracker) !== null,
      execute: () => act(does)
    });
  add(
    CommandIDs.fix,
    "Fix the Cell's Error",
    'Propose a fix as a diff in the cell',
    (controller, panel, cell) => controller.fix(panel, cell, false)
  );
  add(
    CommandIDs.fixAndRun,
    "Fix the Cell's Error and Run",
    'Fix the cell and run it, up to three times',
    (controller, panel, cell) => controller.fix(panel, cell, true)
  );
  add(
    CommandIDs.explain,
    "Explain the Cell's Error",
    'Explain the error under the output',
    (controller, panel, cell) => controller.explain(panel, cell)
  );
}

/** The active cell, with its notebook, if it shows an error. */
function failedCell(
  { shell }: JupyterFrontEnd,
  { currentWidget: panel }: INotebookTracker
): [NotebookPanel, CodeCell] | null {
  const cell = panel?.content.activeCell;
  return panel &&
    panel === shell.currentWidget &&
    cell instanceof CodeCell &&
    failureOf(cell.model)
    ? [panel, cell]
    : null;
}
