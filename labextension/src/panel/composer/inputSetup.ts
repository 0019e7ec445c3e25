import { Contents } from '@jupyterlab/services';

import { AttachMenu } from './attachments/AttachMenu';
import { ModeSelect } from './ModeSelect';
import { PlanFirst } from './PlanFirst';
import { ModelSelect } from './ModelSelect';
import { SendButtons } from './SendButtons';
import { PanelModel } from '../model';
import { InputChatModel } from './chatModel';
import { ToolCommands } from './completion/toolCommands';
import { IInputRegistries } from './registries';
import { CompareCommands } from './completion/compareCommands';
import { CurrentCommands } from './completion/currentCommands';
import { PanelCommands } from './completion/panelCommands';
import { ServiceCommands } from '../services/serviceCommands';
import { ICommandHelp } from '../toolsPanel/toolsPanel';
import { ReferenceCommands } from './completion/referenceCommands';

/** The input of `@jupyter/chat` with our registries. */
export interface IInputSetup extends IInputRegistries {
  chatModel: InputChatModel;
  /** Whether a text is, as a whole, something that the panel itself does: `/new`. */
  isCommand(text: string): boolean;
  /** The panel's own commands. */
  help: readonly ICommandHelp[];
}

/** Make the input's model, and add what the panel brings to what other extensions have added. */
export function setUpInput(
  model: PanelModel,
  contents: Contents.IManager,
  registries: IInputRegistries
): IInputSetup {
  const { openers, toolbar } = registries;
  const commands = new CurrentCommands(registries.commands);
  const panelCommands = new PanelCommands(model);
  const chatModel = new InputChatModel(model, name => panelCommands.does(name));

  // Services first.
  commands.addProvider(new ServiceCommands(model.services));
  commands.addProvider(panelCommands);
  commands.addProvider(new CompareCommands(model));
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

  for (const type of ['notebook', 'file']) {
    if (!openers.get(type)) {
      openers.set(type, ({ value }) => void model.editor.reveal(value));
    }
  }

  toolbar.addOwn('mode', { element: ModeSelect, position: 10 });
  toolbar.addOwn('model', { element: ModelSelect, position: 20 });
  toolbar.addOwn('attach', { element: AttachMenu, position: 30 });
  toolbar.addOwn('planFirst', { element: PlanFirst, position: 40 });
  toolbar.addOwn('send', { element: SendButtons, position: 100 });

  const isCommand = (text: string) => panelCommands.has(text);
  const help = panelCommands.list;
  return { ...registries, commands, chatModel, isCommand, help };
}
