import type { IAttachmentOpenerRegistry } from '@jupyter/chat/lib/registers/attachment-openers';
import type { IChatCommandRegistry } from '@jupyter/chat/lib/registers/chat-commands';
import {
  ILabShell,
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, IThemeManager } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/pageConnection';
import { Documents } from '../notebook/documents';
import { OPEN_SETTINGS, SETTINGS_ID } from '../settings/plugin';
import type { IChangesSource } from '../changes/source';
import {
  IAgentAttachmentOpeners,
  IAgentChanges,
  IAgentChatCommands,
  IAgentClient,
  IAgentConnection,
  IAgentInputToolbar,
  IDocuments
} from '../tokens';
import { askInDialog } from './sessionList/ask';
import { changesSource } from './changes/changesSource';
import type { InputToolbar } from './composer/registries';
import { addCommands } from './commands';
import {
  SESSION_KEY,
  COMPARE_KEY,
  STRATEGIST_KEY,
  TUTORIAL_KEY,
  WorkspaceMemory
} from '../ui/memory';
import { PanelModel } from './model';
import { NotebookEditor } from './notebookEditor';
import { addScratchpad } from './scratchpad/extension';
import { AgentPanel, PANEL_ID } from './widget';
import { goToWaitingSoon } from './sessionList/waiting';
import { markWaiting } from './sessionList/waitingMark';
import { giveRoomOnce } from '../ui/width';

/** Id of the plugin, and of its settings. */
export const PLUGIN_ID = 'jupyter-datalayer-agent:plugin';

const OPENED = 'datalayer-agent:was-opened';

/** The panel in the right sidebar and its commands. */
export const panelPlugin: JupyterFrontEndPlugin<IChangesSource> = {
  id: PLUGIN_ID,
  description: 'The Agent panel.',
  autoStart: true,
  provides: IAgentChanges,
  requires: [
    IAgentAttachmentOpeners,
    IAgentChatCommands,
    IAgentClient,
    IAgentConnection,
    IAgentInputToolbar,
    IDocumentManager,
    IDocuments,
    INotebookTracker,
    IRenderMimeRegistry
  ],
  optional: [
    ICommandPalette,
    ILabShell,
    ILayoutRestorer,
    ISettingRegistry,
    IStateDB,
    IThemeManager
  ],
  activate: activatePanel
};

function activatePanel(
  app: JupyterFrontEnd,
  openers: IAttachmentOpenerRegistry,
  commands: IChatCommandRegistry,
  client: AgentClient,
  connection: IPageConnection,
  toolbar: InputToolbar,
  manager: IDocumentManager,
  documents: Documents,
  tracker: INotebookTracker,
  rendermime: IRenderMimeRegistry,
  palette: ICommandPalette | null,
  labShell: ILabShell | null,
  restorer: ILayoutRestorer | null,
  settings: ISettingRegistry | null,
  state: IStateDB | null,
  themeManager: IThemeManager | null
): IChangesSource {
  const editor = new NotebookEditor(app, tracker, manager, documents);
  const model = new PanelModel({
    client,
    connection,
    editor,
    memory: new WorkspaceMemory(state, SESSION_KEY),
    tutorialMemory: new WorkspaceMemory(state, TUTORIAL_KEY),
    compareMemory: new WorkspaceMemory(state, COMPARE_KEY),
    strategistMemory: new WorkspaceMemory(state, STRATEGIST_KEY),
    ask: askInDialog
  });
  settings?.pluginChanged.connect((_, id) => {
    if (id === SETTINGS_ID && model.models.current) {
      // Another default model may be among what was changed.
      void model.refreshModels();
    }
  });
  const openSettings = () => void app.commands.execute(OPEN_SETTINGS);
  const panel = new AgentPanel(
    model,
    {
      rendermime,
      contents: app.serviceManager.contents,
      themeManager,
      registries: { commands, openers, toolbar },
      openSettings,
      code: { app, tracker, manager, documents }
    },
    // Not before the layout is restored, which sets the widths and is what people wait for.
    async panel => {
      await app.restored;
      connection.panelShown();
      await giveRoomOnce(panel, state);
    }
  );
  markWaiting(panel, connection);
  addCommands(app, panel, palette);
  addScratchpad({
    app,
    tracker,
    palette,
    model,
    rendermime,
    openSettings,
    openTurn: (turnId, sessionId) => {
      app.shell.activateById(PANEL_ID);
      void panel
        .ready()
        .then(() =>
          sessionId
            ? model.sessions.goTo(turnId, sessionId)
            : model.sessions.goToTurn(turnId)
        );
    },
    openSession: sessionId => {
      app.shell.activateById(PANEL_ID);
      void showSession(panel, sessionId);
    }
  });
  app.shell.add(panel, 'right', { rank: 900, type: 'Agent' });
  restorer?.add(panel, PANEL_ID);
  if (settings && state && labShell) {
    void openAtFirstStart(app, labShell, settings, state);
  }
  return changesSource(model, connection, editor.following);
}

/** Show a session in the panel, with what waits for the user there. */
async function showSession(
  panel: AgentPanel,
  sessionId: string
): Promise<void> {
  await panel.ready();
  const { sessions, shown } = panel.model;
  if (shown.current.sessionId !== sessionId) {
    await sessions.open(sessionId);
  }
  if (!(await goToWaitingSoon(panel.node))) {
    await panel.focusInput();
  }
}

/** Open the panel once; from then on the restored layout says whether it is open. */
async function openAtFirstStart(
  app: JupyterFrontEnd,
  labShell: ILabShell,
  settings: ISettingRegistry,
  state: IStateDB
): Promise<void> {
  await app.restored;
  if ((await state.fetch(OPENED)) === true) {
    return;
  }
  await state.save(OPENED, true);
  const { composite } = await settings.load(PLUGIN_ID);
  if (composite.openOnStart !== false) {
    labShell.activateById(PANEL_ID);
  }
}
