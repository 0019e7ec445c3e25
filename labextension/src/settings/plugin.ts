import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { AgentClient } from '../api/client';
import { ConfigReply } from '../api/types';
import { asTheServerHasIt } from './schema';

/** Id of the plugin, and of the settings, which the server reads from where JupyterLab keeps them. */
export const SETTINGS_ID = 'jupyter-datalayer-agent:settings';

const EDITOR = ['settingeditor:open', 'settingeditor:open-json'];

/** What a person may set of the agent, in JupyterLab's settings editor. */
export const settingsPlugin: JupyterFrontEndPlugin<void> = {
  id: SETTINGS_ID,
  description: 'Settings of the agent, with what the server has of them.',
  autoStart: true,
  requires: [ISettingRegistry],
  activate: (app: JupyterFrontEnd, settings: ISettingRegistry) => {
    const client = new AgentClient(app.serviceManager.serverSettings);
    let known: ConfigReply | null = null;
    settings.transform(SETTINGS_ID, {
      fetch: plugin => ({
        ...plugin,
        schema: asTheServerHasIt(plugin.schema, known)
      })
    });
    // Nothing is asked of the server before somebody looks.
    app.commands.commandExecuted.connect((_, { id }) => {
      if (EDITOR.includes(id)) {
        void look();
      }
    });
    const look = async () => {
      try {
        known = await client.config();
        await settings.reload(SETTINGS_ID);
      } catch (error) {
        console.warn('datalayer-agent: the settings cannot be read', error);
      }
    };
  }
};
