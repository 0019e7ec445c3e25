import {
  ChatCommand,
  IChatCommandProvider,
  IChatCommandRegistry
} from '@jupyter/chat/lib/registers/chat-commands';
import { IInputModel } from '@jupyter/chat/lib/input-model';

/**
 * The completions of every provider, for the word that is being typed when they come.
 *
 * The input of `@jupyter/chat` asks at each new word, and shows the answer that comes last: a late
 * answer for an earlier word (the variables of a busy kernel) would replace the list of the word
 * that is typed by now. So the providers are asked until the text stays the same meanwhile.
 */
export class CurrentCommands
  implements IChatCommandRegistry, IChatCommandProvider
{
  constructor(private readonly _commands: IChatCommandRegistry) {}

  readonly id = 'jupyter-datalayer-agent:current-commands';

  addProvider(provider: IChatCommandProvider): void {
    this._commands.addProvider(provider);
  }

  getProviders(): IChatCommandProvider[] {
    return [this];
  }

  async listCommandCompletions(input: IInputModel): Promise<ChatCommand[]> {
    let word = input.currentWord;
    // What was sent leaves the word behind until the cursor is set.
    while (word && input.value.includes(word)) {
      const text = input.value;
      const asked = this._commands
        .getProviders()
        .map(provider => completionsOf(provider, input));
      const found = (await Promise.all(asked)).flat();
      if (input.currentWord === word && input.value === text) {
        return found;
      }
      word = input.currentWord;
    }
    return [];
  }

  onSubmit(input: IInputModel): Promise<void> {
    return this._commands.onSubmit(input);
  }
}

/** Nothing where the provider fails: the others' completions are shown. */
async function completionsOf(
  provider: IChatCommandProvider,
  input: IInputModel
): Promise<ChatCommand[]> {
  try {
    return await provider.listCommandCompletions(input);
  } catch (error) {
    console.error(`The completions of ${provider.id} failed:`, error);
    return [];
  }
}
