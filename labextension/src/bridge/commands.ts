import { CommandRegistry } from '@lumino/commands';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { ExecuteCommandParams, PageCommand, PageRequestError } from '../api';

/** What the server may have the page do; whatever else it asks for, the page refuses. */
const ALLOWED: Record<PageCommand, true> = {
  'application:set-mode': true,
  'application:toggle-left-area': true,
  'application:toggle-right-area': true,
  'apputils:change-theme': true,
  'apputils:decr-font-size': true,
  'apputils:incr-font-size': true,
  'docmanager:open': true,
  'documentsearch:start': true,
  'notebook:interrupt-kernel': true,
  'notebook:restart-run-all': true,
  'notebook:run-all-cells': true,
  'notebook:run-cell': true,
  'settingeditor:open': true
};

/** The commands that end only when the user has answered, or the cells have run. */
const LASTING: ReadonlySet<PageCommand> = new Set([
  'notebook:restart-run-all',
  'notebook:run-all-cells',
  'notebook:run-cell'
]);

/** Carry out an allowed command of JupyterLab. */
export async function executeCommand(
  commands: CommandRegistry,
  { id, args }: ExecuteCommandParams
): Promise<void> {
  if (!Object.hasOwn(ALLOWED, id)) {
    throw new PageRequestError('invalid', `The page does not carry out ${id}.`);
  }
  const given = (args ?? {}) as ReadonlyPartialJSONObject;
  if (!commands.hasCommand(id) || !commands.isEnabled(id, given)) {
    throw new PageRequestError(
      'invalid',
      `JupyterLab cannot carry out ${id} now: it is not installed, or nothing is open that it is for.`
    );
  }
  const done = commands.execute(id, given);
  if (!LASTING.has(id)) {
    await done;
  }
}
