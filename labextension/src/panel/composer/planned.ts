import { IComposerState } from './composerState';
import { isResumable } from '../../session/plan';
import { ConversationStore } from '../../session/store';

/** Words that take up a plan that stopped, as the server reads them. */
const CONTINUE = /^(continue|go on|resume) ?[.!]?$/i;

/** Whether a message is carried out by a plan, which a ready workflow gives where no model does. */
export function isPlanned(
  message: string,
  { mode, planFirst }: Pick<IComposerState, 'mode' | 'planFirst'>,
  store: ConversationStore
): boolean {
  const planned = store.planned.current;
  return (
    /^\s*agent:/i.test(message) ||
    (mode === 'agent' && planFirst) ||
    (CONTINUE.test(message.trim()) &&
      !!planned &&
      isResumable(store.turn(planned).current))
  );
}
