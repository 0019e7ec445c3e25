import {
  ChatCommand,
  IChatCommandProvider
} from '@jupyter/chat/lib/registers/chat-commands';
import { IInputModel } from '@jupyter/chat/lib/input-model';

import { PanelModel } from '../../model';
import { mark } from './toolCommands';

/** `/compare @`: the models that could answer. */
export class CompareCommands implements IChatCommandProvider {
  constructor(private readonly _model: PanelModel) {}

  readonly id = 'jupyter-datalayer-agent:compared-models';

  async listCommandCompletions(input: IInputModel): Promise<ChatCommand[]> {
    const word = input.currentWord ?? '';
    if (!word.startsWith('@') || !/^\s*\/compare\s/i.test(input.value)) {
      return [];
    }
    const typed = word.slice(1).toLowerCase();
    return this._model.compare.choices
      .filter(({ id, label }) => `${id} ${label}`.toLowerCase().includes(typed))
      .map(({ id, label }) => ({
        name: `@${id}`,
        providerId: this.id,
        description: label,
        icon: mark(''),
        spaceOnAccept: true
      }));
  }

  /** What is named is read with the command. */
  async onSubmit(): Promise<void> {
    return;
  }
}
