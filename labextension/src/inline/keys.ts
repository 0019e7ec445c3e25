import { CommandRegistry } from '@lumino/commands';

/**
 * Run these commands by their shortcuts in editors too.
 *
 * JupyterLab hears of a key after the editor, which has some of these for itself (Accel+I selects
 * the syntax around the cursor). The shortcuts are those of the settings.
 */
export function heedInEditors(
  commands: CommandRegistry,
  ids: ReadonlySet<string>
): void {
  document.addEventListener(
    'keydown',
    event => {
      const { target } = event;
      if (!(target instanceof Element) || !target.closest('.cm-content')) {
        return;
      }
      const keystroke = CommandRegistry.keystrokeForKeydownEvent(event);
      const binding = commands.keyBindings.find(
        ({ command, keys, selector }) =>
          ids.has(command) &&
          keys.length === 1 &&
          keys[0] === keystroke &&
          target.closest(selector) !== null
      );
      if (binding && commands.isEnabled(binding.command)) {
        event.preventDefault();
        event.stopPropagation();
        void commands.execute(binding.command);
      }
    },
    true
  );
}
