import React from 'react';

import { emptyTurn } from '../../session/turn';
import { Observable, useValue } from '../../session/observable';
import { formatSessionUsage } from '../conversation/usageLabels';
import { usePanel } from '../context';

const NO_TURN = new Observable(emptyTurn(''));

/** What the conversation took until now; nothing where the server has not reported it. */
export function SessionUse(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { turnIds } = useValue(store.conversation);
  const newest = turnIds[turnIds.length - 1];
  const { usage } = useValue(newest ? store.turn(newest) : NO_TURN);
  const label = usage && formatSessionUsage(usage);
  return label ? (
    <div className="da-dim da-session-use" data-testid="da-session-use">
      {label}
    </div>
  ) : null;
}
