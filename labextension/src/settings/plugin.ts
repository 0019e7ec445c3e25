import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { MainAreaWidget, showErrorMessage } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IFormRendererRegistry } from '@jupyterlab/ui-components';
import { toArray } from '@lumino/algorithm';
import { JSONExt } from '@lumino/coreutils';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/pageConnection';
import { ConfigReply } from '../api/types';
import { IAgentClient, IAgentConnection } from '../tokens';
import { confirmSettings } from './confirm';
import { drawPages, withPages } from './pages';
import { asTheServerHasIt, composed, own } from './schema';

/** Id of the plugin, and of the settings, which the server reads from where JupyterLab keeps them. */
export const SETTINGS_ID = 'jupyter-datalayer-agent:settings';

/** The command that opens the agent's settings as the server has them now. */
export const OPEN_SETTINGS = 'datalayer-agent:settings';

const OPEN_EDITOR = 'settingeditor:open';
const EDITOR_ID = 'setting-editor';

/** What a user may set of the agent, in JupyterLab's settings editor. */
export const settingsPlugin: JupyterFrontEndPlugin<void> = {
  id: SETTINGS_ID,
  description: 'Settings of the agent with the values of the server.',
  autoStart: true,
  requires: [IAgentClient, ISettingRegistry, IAgentConnection],
  optional: [IFormRendererRegistry],
  activate: activateSettings
};

function activateSettings(
  { commands, shell }: JupyterFrontEnd,
  client: AgentClient,
  settings: ISettingRegistry,
  connection: IPageConnection,
  renderers: IFormRendererRegistry | null
): void {
  let known: ConfigReply | null = null;
  let isAsking = false;
  let isUnconfirmed = false;
  if (renderers) {
    drawPages(renderers, SETTINGS_ID, commands);
  }
  const shown = (schema: ISettingRegistry.ISchema) =>
    renderers ? withPages(schema) : schema;
  settings.transform(SETTINGS_ID, {
    fetch: plugin => ({
      ...plugin,
      schema: shown(asTheServerHasIt(plugin.schema, known))
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
    // A change that arrives while the user is asked is looked at after their answer.
    isUnconfirmed = true;
    if (!isAsking) {
      isAsking = true;
      try {
        while (isUnconfirmed) {
          isUnconfirmed = false;
          if (await confirmSettings(await client.config(), client)) {
            await refresh();
          }
        }
      } catch (error) {
        void showErrorMessage('The setting was not changed', error as Error);
      } finally {
        isAsking = false;
      }
    }
  });
  const refresh = async () => {
    try {
      known = await client.config();
      await settings.reload(SETTINGS_ID);
    } catch (error) {
      console.warn('datalayer-agent: the settings cannot be read', error);
    }
  };

  // The server wrote the default model into the user's settings. The page must not save over it what
  // it had read before.
  connection.modelsChanged.connect(async () => {
    if (known) {
      await refresh();
    } else if (SETTINGS_ID in settings.plugins) {
      await settings.reload(SETTINGS_ID);
    }
  });

  commands.addCommand(OPEN_SETTINGS, {
    label: 'Agent Settings',
    caption: 'Settings of the agent',
    describedBy: { args: { type: 'object', properties: {} } },
    execute: async () => {
      await refresh();
      await commands.execute(OPEN_EDITOR, { query: 'Agent' });
    }
  });

  // The server is asked when somebody looks for the first time, and not before. The editor does
  // ignore a change of what it already shows, so that it is opened once more.
  commands.commandExecuted.connect(async (_, { id, args }) => {
    if (id !== OPEN_EDITOR || known) {
      return;
    }
    await refresh();
    const editor = toArray(shell.widgets('main')).find(
      widget => widget.id === EDITOR_ID
    );
    // What somebody has begun to change in it meanwhile stays, and so does the editor.
    if (
      known &&
      editor instanceof MainAreaWidget &&
      !editor.title.className.includes('jp-mod-dirty')
    ) {
      editor.content.close();
      if (editor.isDisposed) {
        await commands.execute(OPEN_EDITOR, args);
      }
    }
  });
}
