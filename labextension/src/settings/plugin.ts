import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { toArray } from '@lumino/algorithm';
import { JSONExt } from '@lumino/coreutils';

import { AgentClient } from '../api/client';
import { ConfigReply } from '../api/types';
import { asTheServerHasIt, composed, own } from './schema';

/** Id of the plugin, and of the settings, which the server reads from where JupyterLab keeps them. */
export const SETTINGS_ID = 'jupyter-datalayer-agent:settings';

/** The command that opens the agent's settings as the server has them now. */
export const OPEN_SETTINGS = 'datalayer-agent:settings';

const OPEN_EDITOR = 'settingeditor:open';
const EDITOR_ID = 'setting-editor';

/** What a person may set of the agent, in JupyterLab's settings editor. */
export const settingsPlugin: JupyterFrontEndPlugin<void> = {
  id: SETTINGS_ID,
  description: 'Settings of the agent, with what the server has of them.',
  autoStart: true,
  requires: [ISettingRegistry],
  activate: activateSettings
};

function activateSettings(
  app: JupyterFrontEnd,
  settings: ISettingRegistry
): void {
  const { commands, shell } = app;
  const client = new AgentClient(app.serviceManager.serverSettings);
  let known: ConfigReply | null = null;
  settings.transform(SETTINGS_ID, {
    fetch: plugin => ({
      ...plugin,
      schema: asTheServerHasIt(plugin.schema, known)
    }),
    compose: plugin => ({
      ...plugin,
      data: {
        ...plugin.data,
        composite: composed(plugin.schema, plugin.data.user, known)
      }
    })
  });
  settings.pluginChanged.connect(async (_, id) => {
    if (id !== SETTINGS_ID || !known) {
      return;
    }
    const loaded = await settings.load(SETTINGS_ID);
    const kept = own(loaded.user, known);
    if (!JSONExt.deepEqual(kept, loaded.user)) {
      await loaded.save(JSON.stringify(kept, null, 2));
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

  commands.addCommand(OPEN_SETTINGS, {
    label: 'Agent Settings',
    caption: 'What you may set of the agent',
    describedBy: { args: { type: 'object', properties: {} } },
    execute: async () => {
      await look();
      await commands.execute(OPEN_EDITOR, { query: 'Agent' });
    }
  });

  // The server is asked when somebody looks for the first time, and not before. The editor does
  // not heed a change of what it already shows, so that it is opened once more.
  commands.commandExecuted.connect(async (_, { id, args }) => {
    if (id !== OPEN_EDITOR || known) {
      return;
    }
    await look();
    const editor = toArray(shell.widgets('main')).find(
      widget => widget.id === EDITOR_ID
    );
    if (known && editor) {
      editor.dispose();
      await commands.execute(OPEN_EDITOR, args);
    }
  });
}
