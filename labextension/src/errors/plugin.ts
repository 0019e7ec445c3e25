import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { CodeCell } from '@jupyterlab/cells';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/connection';
import { Documents } from '../bridge/documents';
import { IInlineChats } from '../inline/token';
import { IAgentConnection } from '../tokens';
import type { ErrorDesk } from './desk';
import { failureOf } from './failure';

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
    IAgentConnection,
    IDocumentManager,
    IInlineChats,
    INotebookTracker
  ],
  optional: [ICommandPalette, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    connection: IPageConnection,
    manager: IDocumentManager,
    chats: IInlineChats,
    tracker: INotebookTracker,
    palette: ICommandPalette | null,
    registry: ISettingRegistry | null
  ): void => {
    const settings = registry?.load(PLUGIN_ID).catch(() => null);
    let desk: Promise<ErrorDesk> | null = null;
    const load = async () => {
      const [module, own] = await Promise.all([import('./desk'), settings]);
      return new module.ErrorDesk({
        tracker,
        chats,
        connection,
        documents: new Documents(app.shell, tracker, manager),
        client: new AgentClient(app.serviceManager.serverSettings),
        hints: () => own?.get('hints').composite === true
      });
    };
    // With the first notebook, and not before.
    const onNotebook = () => void (desk ??= load());
    tracker.widgetAdded.connect(onNotebook);
    if (tracker.size) {
      onNotebook();
    }
    addCommands(app, tracker, act => {
      const failed = failedCell(app, tracker);
      if (failed) {
        void (desk ??= load()).then(each => act(each, ...failed));
      }
    });
    Object.values(CommandIDs).forEach(command =>
      palette?.addItem({ command, category: 'Agent' })
    );
  }
};

type Act = (desk: ErrorDesk, panel: NotebookPanel, cell: CodeCell) => void;

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
    (desk, panel, cell) => desk.fix(panel, cell, false)
  );
  add(
    CommandIDs.fixAndRun,
    "Fix the Cell's Error and Run",
    'Fix the cell and run it, up to three times',
    (desk, panel, cell) => desk.fix(panel, cell, true)
  );
  add(
    CommandIDs.explain,
    "Explain the Cell's Error",
    'Explain the error under the output',
    (desk, panel, cell) => desk.explain(panel, cell)
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
