import { IInputModel } from '@jupyter/chat/lib/input-model';
import { IChatCommandRegistry } from '@jupyter/chat/lib/registers/chat-commands';

/** Do what is typed, or send it. */
export async function submitInput(
  input: IInputModel,
  commands: IChatCommandRegistry | undefined
): Promise<void> {
  await commands?.onSubmit(input);
  input.send(input.value);
  // The menu of completions goes with the word that it was about.
  input.cursorIndex = input.value.length;
}
