import { JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { CommandRegistry } from '@lumino/commands';
import { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { AgentClient } from '../../api/client';
import { SETTINGS_ID, settingsPlugin } from '../plugin';
import { until } from '../../api/__tests__/support';

/** JupyterLab's settings editor, which is gone when it is closed. */
class Editor extends Widget {
  protected onCloseRequest(_: Message): void {
    this.dispose();
  }
}

let opened: { query?: string }[];
let editors: MainAreaWidget[];
let commands: CommandRegistry;
let answer: () => void;
let asked: jest.SpyInstance;
const reload = jest.fn(async () => undefined);
let modelsChanged: Signal<object, void>;
let pluginChanged: Signal<object, string>;

beforeEach(() => {
  modelsChanged = new Signal({});
  pluginChanged = new Signal({});
  opened = [];
  editors = [];
  commands = new CommandRegistry();
  commands.addCommand('settingeditor:open', {
    execute: args => {
      opened.push(args);
      if (editors.every(each => each.isDisposed)) {
        const editor = new MainAreaWidget({ content: new Editor() });
        editor.id = 'setting-editor';
        editors.push(editor);
      }
    }
  });
  const config = new Promise<never>(resolve => {
    answer = () => resolve({ values: [] } as never);
  });
  asked = jest.spyOn(AgentClient.prototype, 'config').mockReturnValue(config);
  const app = {
    commands,
    shell: { widgets: () => editors.filter(each => !each.isDisposed).values() }
  } as unknown as JupyterFrontEnd;
  const settings = {
    transform: jest.fn(),
    pluginChanged,
    plugins: { [SETTINGS_ID]: {} },
    load: async () => ({ user: {} }),
    reload
  } as unknown as ISettingRegistry;
  const connection = { modelsChanged };
  void settingsPlugin.activate(app, new AgentClient(), settings, connection);
});

afterEach(() => {
  reload.mockClear();
  editors.forEach(each => each.dispose());
  jest.restoreAllMocks();
});

it('what the server wrote into the settings is read before it could be overwritten', async () => {
  modelsChanged.emit();
  await until(() => reload.mock.calls.length === 1);
  expect(reload).toHaveBeenCalledWith(SETTINGS_ID);
});

it('a looser value that is written while the user is asked about another is asked about next', async () => {
  answer();
  modelsChanged.emit();
  await commands.execute('settingeditor:open', {});
  await until(() => reload.mock.calls.length === 2);
  const unconfirmed = {
    name: 'approval_policy',
    value: 'destructive',
    inherited: 'destructive',
    unconfirmed: 'never'
  };
  asked.mockReset().mockResolvedValue({ values: [unconfirmed] });
  const configure = jest
    .spyOn(AgentClient.prototype, 'configure')
    .mockResolvedValue(undefined as never);
  const dialogs = () =>
    document.querySelectorAll<HTMLElement>('.jp-Dialog .jp-mod-reject');
  pluginChanged.emit(SETTINGS_ID);
  await until(() => dialogs().length === 1);
  pluginChanged.emit(SETTINGS_ID);
  await new Promise(resolve => setTimeout(resolve));
  expect(asked).toHaveBeenCalledTimes(1);
  dialogs()[0].click();
  await until(() => configure.mock.calls.length === 1);
  // It is asked about the second one.
  await until(() => dialogs().length === 1);
  asked.mockResolvedValue({ values: [] });
  dialogs()[0].click();
  await until(() => configure.mock.calls.length === 2);
});

describe('the settings editor that is open when the server is first asked', () => {
  it('is opened once more, since it does not show what changes under it', async () => {
    await commands.execute('settingeditor:open', { query: 'Notebook' });
    answer();
    await until(() => opened.length === 2);
    expect(opened[1]).toEqual({ query: 'Notebook' });
    expect(editors.map(each => each.isDisposed)).toEqual([true, false]);
    await commands.execute('settingeditor:open', {});
    expect(opened).toHaveLength(3);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('stays where the user has begun to change something in it', async () => {
    await commands.execute('settingeditor:open', {});
    editors[0].content.title.className += ' jp-mod-dirty';
    answer();
    await new Promise(resolve => setTimeout(resolve));
    expect(opened).toHaveLength(1);
    expect(editors[0].isDisposed).toBe(false);
  });

  it('stays where the user does not let it close', async () => {
    const stay = jest
      .spyOn(Editor.prototype, 'onCloseRequest' as never)
      .mockImplementation();
    await commands.execute('settingeditor:open', {});
    answer();
    await until(() => stay.mock.calls.length > 0);
    expect(opened).toHaveLength(1);
    expect(editors[0].isDisposed).toBe(false);
  });
});
