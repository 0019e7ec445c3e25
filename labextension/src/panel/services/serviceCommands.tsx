import {
  ChatCommand,
  IChatCommandProvider
} from '@jupyter/chat/lib/registers/chat-commands';
import { IInputModel } from '@jupyter/chat/lib/input-model';

import { ServicesController } from './servicesController';
import { mark } from '../composer/completion/toolCommands';

/** `/`: the services, to which the server sends the message. */
export class ServiceCommands implements IChatCommandProvider {
  constructor(private readonly _services: ServicesController) {}

  readonly id = 'jupyter-datalayer-agent:services';

  async listCommandCompletions(input: IInputModel): Promise<ChatCommand[]> {
    const word = typedCommand(input);
    if (!word) {
      return [];
    }
    const services = await this._services.load();
    return services
      .filter(({ id }) => `/${id}`.startsWith(word))
      .map(({ id, description }) => ({
        name: `/${id}`,
        providerId: this.id,
        description,
        icon: mark(''),
        spaceOnAccept: true
      }));
  }

  /** The command stays in the message: the server reads it there. */
  async onSubmit(): Promise<void> {
    return;
  }
}

/** The command that is typed, where the message has nothing else yet. */
function typedCommand(input: IInputModel): string | null {
  const word = input.currentWord ?? '';
  return word.startsWith('/') && input.value.trimStart() === word ? word : null;
}
