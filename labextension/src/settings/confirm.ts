import { Dialog, showDialog } from '@jupyterlab/apputils';

import { AgentClient } from '../api/client';
import { ConfigReply, ConfigValue } from '../api/types';

/** Asks whether a setting shall have its new value. */
export type AskToConfirm = (setting: ConfigValue) => Promise<boolean>;

/**
 * Ask about each value in the user's file that protects them less than what holds, and send what
 * they say. Programs can write that file, too: the server takes such a value from a page only.
 *
 * Returns whether there was one.
 */
export async function confirmSettings(
  config: ConfigReply,
  client: Pick<AgentClient, 'configure'>,
  ask: AskToConfirm = askToConfirm
): Promise<boolean> {
  const changed = config.values.filter(
    each => (each.unconfirmed ?? null) !== null
  );
  for (const each of changed) {
    const kept = each.value === each.inherited ? null : (each.value ?? null);
    const value = (await ask(each)) ? each.unconfirmed : kept;
    await client.configure({ [each.name]: value });
  }
  return changed.length > 0;
}

const askToConfirm: AskToConfirm = async setting => {
  const { button } = await showDialog({
    title: 'Confirm a setting of the agent',
    body:
      `Your settings file changes ${setting.name} from ${String(setting.value)} to ` +
      `${String(setting.unconfirmed)}, which protects you less. If you did not change it, keep it ` +
      'as it is.',
    buttons: [
      Dialog.cancelButton({ label: `Keep ${String(setting.value)}` }),
      Dialog.warnButton({ label: `Change to ${String(setting.unconfirmed)}` })
    ],
    // Enter, which was perhaps meant for something else, keeps what protects more.
    defaultButton: 0
  });
  return button.accept;
};
