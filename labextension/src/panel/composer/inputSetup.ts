import { InputToolbarRegistry } from '@jupyter/chat/lib/components/input/toolbar-registry';
import { AttachmentOpenerRegistry } from '@jupyter/chat/lib/registers/attachment-openers';
import { ChatCommandRegistry } from '@jupyter/chat/lib/registers/chat-commands';
import { Contents } from '@jupyterlab/services';

import { AttachMenu } from './attachments/AttachMenu';
import { ModeSelect } from './ModeSelect';
import { PlanFirst } from './PlanFirst';
import { ModelSelect } from './ModelSelect';
import { SendButtons } from './SendButtons';
import { PanelModel } from '../model';
import { InputChatModel } from './chatModel';
import { ToolCommands } from './completion/toolCommands';
import { PanelCommands } from './completion/panelCommands';
import { ReferenceCommands } from './completion/referenceCommands';

/** The input of `@jupyter/chat` with our registries. */
export interface IInputSetup {
  chatModel: InputChatModel;
  commands: ChatCommandRegistry;
  openers: AttachmentOpenerRegistry;
  toolbar: InputToolbarRegistry;
  /** Whether a text is, as a whole, something that the panel itself does: `/new`. */
  isCommand(text: string): boolean;
}

/** Make the input's model, and fill its registries with what the panel brings. */
export function setUpInput(
  model: PanelModel,
  contents: Contents.IManager
): IInputSetup {
  const panelCommands = new PanelCommands(model);
  const chatModel = new InputChatModel(model, name =>
    panelCommands.list.some(each => each.name === name)
  );

  const commands = new ChatCommandRegistry();
  commands.addProvider(panelCommands);
  commands.addProvider(new ToolCommands(model));
  const references = new ReferenceCommands(model, contents);
  references.watch(chatModel.input);
  model.references.isThere = path =>
    contents.get(path, { content: false }).then(
      () => true,
      ({ response }: { response?: Response }) =>
        response?.status === 404 ? false : null
    );
  commands.addProvider(references);

  const openers = new AttachmentOpenerRegistry();
  for (const type of ['notebook', 'file']) {
    openers.set(type, ({ value }) => void model.editor.reveal(value));
  }

  const toolbar = new InputToolbarRegistry();
  toolbar.addItem('mode', { element: ModeSelect, position: 10 });
  toolbar.addItem('model', { element: ModelSelect, position: 20 });
  toolbar.addItem('attach', { element: AttachMenu, position: 30 });
  toolbar.addItem('planFirst', { element: PlanFirst, position: 40 });
  toolbar.addItem('send', { element: SendButtons, position: 100 });

  const isCommand = (text: string) => panelCommands.has(text);
  return { chatModel, commands, openers, toolbar, isCommand };
}
