import { MenuSvg } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

/** Something to choose in a menu, or a line between two of them. */
export type IMenuItem =
  | { label: string; run: () => void; isDisabled?: boolean }
  | { label: string; items: readonly IMenuItem[] }
  | 'separator';

/** Open a menu of JupyterLab's below a button, to which the focus comes back. */
export function openMenu(
  button: HTMLElement,
  items: readonly IMenuItem[]
): void {
  const menu = menuOf(items);
  menu.aboutToClose.connect(() => {
    button.focus();
    // What was chosen is carried out after it has closed.
    setTimeout(() => dispose(menu));
  });
  const { right, bottom } = button.getBoundingClientRect();
  menu.open(right, bottom, { horizontalAlignment: 'right' });
}

function menuOf(items: readonly IMenuItem[]): Menu {
  const commands = new CommandRegistry();
  const menu = new MenuSvg({ commands });
  items.forEach((item, index) => {
    if (item === 'separator') {
      menu.addItem({ type: 'separator' });
      return;
    }
    if ('items' in item) {
      const submenu = menuOf(item.items);
      submenu.title.label = item.label;
      menu.addItem({ type: 'submenu', submenu });
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
  return menu;
}

function dispose(menu: Menu): void {
  menu.items.forEach(({ submenu }) => submenu && dispose(submenu));
  menu.dispose();
}
