import React, { useState } from 'react';

import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** Cells whose outputs are older than their code, and a way to run them. */
export function StaleLine(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const stale = useValue(store.stale);
  const { runningTurnId } = useValue(store.conversation);
  const [isRunning, setRunning] = useState(false);
  if (!stale || runningTurnId) {
    return null;
  }
  const count = stale.cellIds.length;
  const run = () => {
    setRunning(true);
    void model.runStale().finally(() => setRunning(false));
  };
  return (
    <div className="da-stale" data-testid="da-stale" role="status">
      <span>
        {count === 1
          ? '1 cell has outdated output'
          : `${count} cells have outdated output`}
      </span>
      <button
        type="button"
        className="da-link"
        disabled={isRunning}
        onClick={run}
      >
        {isRunning ? 'Running' : count === 1 ? 'Run it' : 'Run them'}
      </button>
    </div>
  );
}
