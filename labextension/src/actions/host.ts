import { createContext, useContext } from 'react';

import { ActionProposal } from '../api/types';

/** An action of a service. */
export interface IActionId {
  service: string;
  action: string;
}

/** Where actions are filled in and run: the panel, or an inline chat. */
export interface IActionHost {
  /** Whether a turn is under way, so that none can begin. */
  isWorking: boolean;
  /** What the action would be run with, and what it asks next. Nothing is executed. */
  dryRun: (
    id: IActionId,
    parameters: Record<string, unknown>,
    notebook?: string | null
  ) => Promise<ActionProposal>;
}

/** The host of the actions within. */
export const ActionHost = createContext<IActionHost | null>(null);

/** The host around a form. */
export function useActionHost(): IActionHost {
  const host = useContext(ActionHost);
  if (!host) {
    throw new Error('Nobody runs actions here.');
  }
  return host;
}
