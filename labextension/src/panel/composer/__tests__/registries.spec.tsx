import {
  ChatCommand,
  IChatCommandRegistry
} from '@jupyter/chat/lib/registers/chat-commands';
import { IInputToolbarRegistry } from '@jupyter/chat/lib/components/input/toolbar-registry';
import { JupyterFrontEnd } from '@jupyterlab/application';
import { ContentsManager } from '@jupyterlab/services';
import { PluginRegistry } from '@lumino/coreutils';
import React from 'react';

import {
  clear,
  doing,
  draw,
  makePanel,
  press,
  settle
} from '../../__tests__/render';
import { IAgentChatCommands, IAgentInputToolbar } from '../../../tokens';
import { Composer } from '../Composer';
import { setUpInput } from '../inputSetup';
import {
  attachmentOpenersPlugin,
  chatCommandsPlugin,
  InputToolbar,
  inputToolbarPlugin
} from '../registries';

afterEach(clear);

/** A plugin of another package, as docs/extending-the-input.md shows it. */
const thirdParty = {
  id: 'other:hello',
  autoStart: true,
  requires: [IAgentChatCommands, IAgentInputToolbar],
  activate: (
    _: JupyterFrontEnd,
    commands: IChatCommandRegistry,
    toolbar: IInputToolbarRegistry
  ) => {
    const command: ChatCommand = {
      name: '/hello',
      providerId: 'other:hello',
      description: 'Say hello'
    };
    commands.addProvider({
      id: 'other:hello',
      listCommandCompletions: async input =>
        input.currentWord?.startsWith('/h') ? [command] : [],
      onSubmit: async input => {
        input.value = input.value.replace(/^\/hello\b/, 'Greet the user');
      }
    });
    toolbar.addItem('hello', {
      element: () => <button data-testid="other-hello">Hello</button>,
      position: 50
    });
    toolbar.hide('planFirst');
  }
};

/** The panel's input, with the plugins activated before, as JupyterLab does at its start. */
async function drawInput() {
  const plugins = new PluginRegistry<JupyterFrontEnd>();
  plugins.application = {} as JupyterFrontEnd;
  plugins.registerPlugins([
    thirdParty,
    attachmentOpenersPlugin,
    chatCommandsPlugin,
    inputToolbarPlugin
  ]);
  await plugins.activatePlugins('startUp');
  const panel = await makePanel();
  const contents = new ContentsManager();
  const setup = setUpInput(panel.model, contents, {
    commands: await plugins.resolveRequiredService(
      chatCommandsPlugin.provides!
    ),
    openers: await plugins.resolveRequiredService(
      attachmentOpenersPlugin.provides!
    ),
    toolbar: (await plugins.resolveRequiredService(
      inputToolbarPlugin.provides!
    )) as InputToolbar
  });
  const node = await draw(
    panel.model,
    <Composer setup={setup} themeManager={null} />
  );
  const field = node.querySelector<HTMLTextAreaElement>(
    '[data-testid="da-input"]'
  );
  return { ...panel, setup, node, field };
}

describe('the input of the panel', () => {
  it('shows and carries out the command of another extension', async () => {
    const { field, ops, setup } = await drawInput();
    const { input } = setup.chatModel;
    const write = (text: string) =>
      doing(() => {
        input.value = text;
        input.cursorIndex = text.length;
      });
    await doing(() => field?.focus());
    await write('/he');
    const options = [...document.querySelectorAll('[role="option"]')];
    expect(options.map(({ textContent }) => textContent)).toEqual([
      expect.stringContaining('/hello'),
      expect.stringContaining('/help')
    ]);
    await write('/hello');
    await press(field, 'Enter');
    await settle();
    expect(ops()).toMatchObject([
      { type: 'user_message', request: { message: 'Greet the user' } }
    ]);
  });

  it('shows its button between the own ones, and hides what it hides', async () => {
    const { node, setup } = await drawInput();
    expect(node.querySelector('[data-testid="other-hello"]')).not.toBeNull();
    expect(node.querySelector('[data-testid="da-send"]')).not.toBeNull();
    const items = setup.toolbar.getItems();
    expect(items).toContain(setup.toolbar.get('hello'));
    expect(items).not.toContain(setup.toolbar.get('planFirst'));
  });
});

describe('the toolbar', () => {
  it('keeps its own names for the panel, and takes a name once', () => {
    const toolbar = new InputToolbar();
    const item = { element: () => null, position: 1 };
    expect(() => toolbar.addItem('send', item)).toThrow('"send"');
    toolbar.addItem('mine', item);
    expect(() => toolbar.addItem('mine', item)).toThrow('"mine"');
    toolbar.hide('mine');
    expect(toolbar.getItems()).toEqual([]);
    toolbar.show('mine');
    expect(toolbar.getItems()).toEqual([item]);
  });
});
