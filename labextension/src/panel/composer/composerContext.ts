import { createContext, useContext } from 'react';

import { ICommandHelp } from '../toolsPanel/toolsPanel';

/** The way for other components to the input. */
export interface IComposer {
  /** Put text into the input, for the user to send. */
  write(text: string): void;
  /** The same, where the input is still empty. */
  offer(text: string): void;
  focus(): void;
  /** The panel's own commands. */
  commands: readonly ICommandHelp[];
}

/** The context of the input. */
export const ComposerContext = createContext<IComposer>({
  write: () => undefined,
  offer: () => undefined,
  focus: () => undefined,
  commands: []
});

/** The input around this component. */
export function useComposer(): IComposer {
  return useContext(ComposerContext);
}
