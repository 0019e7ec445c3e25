import { useEffect, useState } from 'react';

import { ContextReply } from '../../../api/types';
import { useValue } from '../../../session/observable';
import { usePanel } from '../../context';

/**
 * What the next message would send, as the server says it; null until it has, or why it cannot. What
 * was said when another notebook was active is no answer any more.
 */
export function useContextReply(
  active: string | null
): ContextReply | Error | null {
  const { model } = usePanel();
  const composerState = useValue(model.composerState);
  const { sessionId, store } = useValue(model.shown);
  const { runningTurnId, turnIds, withdrawn } = useValue(store.conversation);
  const compactions = useValue(store.compactions);
  const { status } = useValue(model.link);
  const [said, setSaid] = useState<{
    active: string | null;
    context: ContextReply | Error;
  } | null>(null);
  const cellCount = active === null ? null : model.editor.cellCount(active);

  useEffect(() => {
    if (runningTurnId || status !== 'online') {
      return;
    }
    let isCurrent = true;
    // Typing in the notebook is not followed; what a click shows is always fresh.
    const timer = setTimeout(() => {
      model.messages.context().then(
        context => isCurrent && setSaid({ active, context }),
        (context: Error) => isCurrent && setSaid({ active, context })
      );
    }, 400);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
    // Besides, whatever changes how much of the conversation is sent.
  }, [
    model,
    active,
    cellCount,
    composerState,
    sessionId,
    runningTurnId,
    turnIds,
    withdrawn,
    compactions,
    status
  ]);

  return said?.active === active ? said.context : null;
}
