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
  heed(
    commands,
    '.cm-content',
    ({ command, selector }, target) =>
      ids.has(command) && target.closest(selector) !== null
  );
}

/**
 * Run the shortcuts of the whole page (Accel+S and the like) in our boxes too.
 *
 * They keep keys from the notebook that they stand in, whose commands are single letters, and
 * JupyterLab knows only all keys or none. The shortcuts of `ids` mean nothing there.
 */
export function heedInBoxes(
  commands: CommandRegistry,
  box: string,
  ids: ReadonlySet<string>
): void {
  heed(
    commands,
    box,
    ({ keys, selector }) =>
      selector === 'body' &&
      /\b(Ctrl|Cmd)\b/.test(keys[0]) &&
      !commands.keyBindings.some(
        other => ids.has(other.command) && other.keys[0] === keys[0]
      )
  );
}

/** Run a command by a shortcut of one key in what `place` selects, before anything else hears of it. */
function heed(
  commands: CommandRegistry,
  place: string,
  isMeant: (binding: CommandRegistry.IKeyBinding, target: Element) => boolean
): void {
  document.addEventListener(
    'keydown',
    event => {
      const { target } = event;
      if (!(target instanceof Element) || !target.closest(place)) {
        return;
      }
      const keystroke = CommandRegistry.keystrokeForKeydownEvent(event);
      const binding = commands.keyBindings.find(
        each =>
          each.keys.length === 1 &&
          each.keys[0] === keystroke &&
          isMeant(each, target)
      );
      if (binding && commands.isEnabled(binding.command, binding.args)) {
        event.preventDefault();
        event.stopPropagation();
        void commands.execute(binding.command, binding.args);
      }
    },
    true
  );
}
