import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

/** Something to choose in a menu, or a line between two of them. */
export type IMenuItem =
  { label: string; run: () => void; isDisabled?: boolean } | 'separator';

/** Open a menu of JupyterLab's below a button, to which the focus comes back. */
export function openMenu(
  button: HTMLElement,
  items: readonly IMenuItem[]
): void {
  const commands = new CommandRegistry();
  const menu = new Menu({ commands });
  items.forEach((item, index) => {
    if (item === 'separator') {
      menu.addItem({ type: 'separator' });
      return;
    }
    const command = `item-${index}`;
    commands.addCommand(command, {
      label: item.label,
      describedBy: { args: { type: 'object', properties: {} } },
      isEnabled: () => !item.isDisabled,
      execute: item.run
    });
    menu.addItem({ command });
  });
  menu.aboutToClose.connect(() => {
    button.focus();
    // What was chosen is carried out after it has closed.
    setTimeout(() => menu.dispose());
  });
  const { right, bottom } = button.getBoundingClientRect();
  menu.open(right, bottom, { horizontalAlignment: 'right' });
}
