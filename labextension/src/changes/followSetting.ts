import { JupyterFrontEnd } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { Following } from '../session/following';

/** Id of the plugin, and of its settings. */
export const CHANGES_ID = 'jupyter-datalayer-agent:changes';

/** The command that switches following on and off. */
export const TOGGLE_FOLLOWING = 'datalayer-agent:toggle-following';

/** Have the page follow the agent's edits as the setting says, and a command to switch it. */
export async function addFollowing(
  app: JupyterFrontEnd,
  following: Following,
  palette: ICommandPalette | null,
  registry: ISettingRegistry | null
): Promise<void> {
  const { commands } = app;
  commands.addCommand(TOGGLE_FOLLOWING, {
    label: "Follow the Agent's Edits",
    caption: 'Scroll to the cell that the agent changes',
    describedBy: { args: { type: 'object', properties: {} } },
    isToggleable: true,
    isToggled: () => following.isOn.current,
    execute: async () => {
      following.isOn.set(!following.isOn.current);
      await registry?.set(CHANGES_ID, 'follow', following.isOn.current);
    }
  });
  palette?.addItem({ command: TOGGLE_FOLLOWING, category: 'Agent' });
  following.isOn.subscribe(() =>
    commands.notifyCommandChanged(TOGGLE_FOLLOWING)
  );
  await app.restored;
  const settings = await registry?.load(CHANGES_ID);
  if (settings) {
    const listen = () =>
      following.isOn.set(settings.composite.follow !== false);
    settings.changed.connect(listen);
    listen();
  }
}
