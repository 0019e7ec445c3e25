import { JupyterFrontEnd } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import { OPEN_CONNECT, OPEN_MCP } from '../settings/pages';
import { agentIcon } from '../ui/icons';
import { AgentPanel } from './widget';

/** Ids of the panel's commands. */
export const CommandIDs = {
  open: 'datalayer-agent:open',
  newSession: 'datalayer-agent:new-session',
  stop: 'datalayer-agent:stop',
  undoTurn: 'datalayer-agent:undo-turn',
  usage: 'datalayer-agent:usage',
  runAction: 'datalayer-agent:run-action',
  connectModel: OPEN_CONNECT,
  mcpServers: OPEN_MCP
} as const;

/** Add the panel's commands, and to the palette. */
export function addCommands(
  app: JupyterFrontEnd,
  panel: AgentPanel,
  palette: ICommandPalette | null
): void {
  const { commands, shell } = app;
  const noArguments = { args: { type: 'object', properties: {} } } as const;

  commands.addCommand(CommandIDs.open, {
    label: 'Open the Agent Panel',
    caption: 'Show the Agent panel with the cursor in its input',
    icon: agentIcon,
    describedBy: noArguments,
    execute: async () => {
      shell.activateById(panel.id);
      await panel.focusInput();
    }
  });
  commands.addCommand(CommandIDs.newSession, {
    label: 'New Agent Session',
    describedBy: noArguments,
    execute: async () => {
      panel.model.sessions.startNew();
      shell.activateById(panel.id);
      await panel.focusInput();
    }
  });
  commands.addCommand(CommandIDs.stop, {
    label: 'Stop the Agent',
    describedBy: noArguments,
    execute: () => panel.model.stop()
  });

  commands.addCommand(CommandIDs.undoTurn, {
    label: "Undo the Agent's Last Changes",
    caption: 'Undo the changes of the latest turn that you have not kept',
    describedBy: noArguments,
    execute: async () => {
      shell.activateById(panel.id);
      await panel.ready();
      panel.model.undoNewest();
    }
  });

  commands.addCommand(CommandIDs.usage, {
    label: "Show the Agent's Usage",
    caption: 'Tokens, cost, time and tool errors for recent days',
    describedBy: noArguments,
    execute: async () => {
      shell.activateById(panel.id);
      await panel.ready();
      panel.model.toolsPanel.showUsage();
    }
  });

  commands.addCommand(CommandIDs.runAction, {
    label: 'Run an Action…',
    caption: "Choose one of the agent's actions, fill in its form and run it",
    describedBy: noArguments,
    execute: async () => {
      shell.activateById(panel.id);
      await panel.ready();
      panel.model.toolsPanel.showActions();
    }
  });

  commands.addCommand(CommandIDs.connectModel, {
    label: 'Connect a Model',
    caption: "Enter a provider's key, or choose a model server",
    describedBy: noArguments,
    execute: async () => {
      shell.activateById(panel.id);
      await panel.ready();
      panel.model.toolsPanel.showConnect();
    }
  });

  commands.addCommand(CommandIDs.mcpServers, {
    label: 'MCP Servers of the Agent',
    caption: 'Add MCP servers, and choose which of their tools are trusted',
    describedBy: noArguments,
    execute: async () => {
      shell.activateById(panel.id);
      await panel.ready();
      panel.model.toolsPanel.showMcp();
    }
  });

  for (const command of Object.values(CommandIDs)) {
    palette?.addItem({ command, category: 'Agent' });
  }
}
