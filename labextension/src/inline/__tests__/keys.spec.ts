import { CommandRegistry } from '@lumino/commands';

import { FirstKeys, keysInBoxes, keysInEditors } from '../keys';

let commands: CommandRegistry;
let ran: string[];

beforeEach(() => {
  commands = new CommandRegistry();
  ran = [];
  for (const id of ['ask', 'save', 'below']) {
    commands.addCommand(id, { execute: () => void ran.push(id) });
  }
  bind('ask', 'Accel I', '.jp-Notebook');
  bind('save', 'Accel S', 'body');
  bind('below', 'B', '.jp-Notebook');
});

function bind(command: string, key: string, selector: string): void {
  commands.addKeyBinding({ command, keys: [key], selector });
}

/** A notebook with an editor and a box of ours; with an editor's own handling of keys. */
function page(): { node: HTMLElement; editor: Element; field: Element } {
  const node = document.createElement('div');
  node.innerHTML =
    '<div class="jp-Notebook"><div class="cm-content"></div><div class="da-inline"><textarea></textarea></div></div>';
  document.body.append(node);
  const editor = node.querySelector('.cm-content')!;
  editor.addEventListener('keydown', () => ran.push('editor'));
  return { node, editor, field: node.querySelector('textarea')! };
}

function press(target: Element, key: string, ctrlKey = true): void {
  const init = { key, code: `Key${key.toUpperCase()}`, ctrlKey };
  target.dispatchEvent(
    new KeyboardEvent('keydown', {
      ...init,
      keyCode: key.toUpperCase().charCodeAt(0),
      bubbles: true,
      cancelable: true
    })
  );
}

it('in editors, runs the commands before the editor hears of the key', () => {
  const { node, editor, field } = page();
  keysInEditors(commands, new Set(['ask'])).listenIn(node);
  press(editor, 'i');
  press(editor, 's');
  press(editor, 'b', false);
  press(field, 'i');
  expect(ran).toEqual(['ask', 'editor', 'editor']);
});

it('in boxes, runs the shortcuts of the whole page', () => {
  const { node, field } = page();
  keysInBoxes(commands, new Set(['ask'])).listenIn(
    node.querySelector<HTMLElement>('.da-inline')!
  );
  press(field, 's');
  press(field, 'i');
  press(field, 'b', false);
  expect(ran).toEqual(['save']);
});

it('heeds shortcuts that are changed later', () => {
  const { node, editor } = page();
  keysInEditors(commands, new Set(['ask'])).listenIn(node);
  press(editor, 'k');
  const added = commands.addKeyBinding({
    command: 'ask',
    keys: ['Accel K'],
    selector: '.jp-Notebook'
  });
  press(editor, 'k');
  added.dispose();
  press(editor, 'k');
  expect(ran).toEqual(['editor', 'ask', 'editor']);
});

it('listens in its elements alone, and looks at all shortcuts once for a key', () => {
  const global = [document, window].map(each =>
    jest.spyOn(each, 'addEventListener')
  );
  const all = jest.spyOn(commands, 'keyBindings', 'get');
  const { node, editor } = page();
  const keys = new FirstKeys(commands, () => false);
  keys.listenIn(node);
  for (let count = 0; count < 20; count++) {
    press(editor, 'a', false);
    press(document.body, 'x', false);
  }
  expect(all).toHaveBeenCalledTimes(1);
  global.forEach(each => expect(each).not.toHaveBeenCalled());
  jest.restoreAllMocks();
});
