import React from 'react';

import { emptyTurn } from '../state/turn';
import { Value, useValue } from '../state/value';
import { sessionUseWords } from '../state/usageWords';
import { usePanel } from './context';

const NO_TURN = new Value(emptyTurn(''));

/** What the conversation took until now; nothing where the server has not told it. */
export function SessionUse(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { turnIds } = useValue(store.conversation);
  const newest = turnIds[turnIds.length - 1];
  const { usage } = useValue(newest ? store.turn(newest) : NO_TURN);
  const words = usage && sessionUseWords(usage);
  return words ? (
    <div className="da-dim da-session-use" data-testid="da-session-use">
      {words}
    </div>
  ) : null;
}
