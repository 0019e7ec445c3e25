import { CommandRegistry } from '@lumino/commands';

/**
 * Runs commands by their shortcuts of one key before anything else hears of the key, in the elements
 * that it is given. It listens there alone, and is gone with them.
 */
export class FirstKeys {
  constructor(
    private readonly _commands: CommandRegistry,
    private readonly _isMeant: (
      binding: CommandRegistry.IKeyBinding,
      target: Element
    ) => boolean
  ) {
    _commands.keyBindingChanged.connect(this._forget, this);
  }

  listenIn(element: HTMLElement): void {
    element.addEventListener('keydown', this, true);
  }

  handleEvent(event: KeyboardEvent): void {
    const { target } = event;
    if (!(target instanceof Element)) {
      return;
    }
    const binding = this._of(
      CommandRegistry.keystrokeForKeydownEvent(event)
    ).find(each => this._isMeant(each, target));
    if (binding && this._commands.isEnabled(binding.command, binding.args)) {
      event.preventDefault();
      event.stopPropagation();
      void this._commands.execute(binding.command, binding.args);
    }
  }

  /** There are hundreds of shortcuts, and people type the same few keys. */
  private _of(keystroke: string): readonly CommandRegistry.IKeyBinding[] {
    let bindings = this._known.get(keystroke);
    if (!bindings) {
      bindings = this._commands.keyBindings.filter(
        ({ keys }) => keys.length === 1 && keys[0] === keystroke
      );
      this._known.set(keystroke, bindings);
    }
    return bindings;
  }

  private _forget(): void {
    this._known.clear();
  }

  private readonly _known = new Map<
    string,
    readonly CommandRegistry.IKeyBinding[]
  >();
}

/**
 * Run these commands by their shortcuts in editors too.
 *
 * JupyterLab hears of a key after the editor, which has some of these for itself (Accel+I selects
 * the syntax around the cursor). The shortcuts are those of the settings.
 */
export function keysInEditors(
  commands: CommandRegistry,
  ids: ReadonlySet<string>
): FirstKeys {
  return new FirstKeys(
    commands,
    ({ command, selector }, target) =>
      ids.has(command) &&
      target.closest('.cm-content') !== null &&
      target.closest(selector) !== null
  );
}

/**
 * Run the shortcuts of the whole page (Accel+S and the like) in our boxes too.
 *
 * They keep keys from the notebook that they are in, whose commands are single letters, and
 * JupyterLab knows only all keys or none. The shortcuts of `ids` mean nothing there.
 */
export function keysInBoxes(
  commands: CommandRegistry,
  ids: ReadonlySet<string>
): FirstKeys {
  return new FirstKeys(
    commands,
    ({ keys, selector }) =>
      selector === 'body' &&
      /\b(Ctrl|Cmd)\b/.test(keys[0]) &&
      !commands.keyBindings.some(
        other => ids.has(other.command) && other.keys[0] === keys[0]
      )
  );
}
