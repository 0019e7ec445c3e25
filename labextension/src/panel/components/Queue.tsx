import React from 'react';

import { useValue } from '../state/value';
import { usePanel } from './context';

/** Messages that wait until the running turn has ended. */
export function Queue(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { queued } = useValue(store.conversation);
  if (!queued.length) {
    return null;
  }
  return (
    <ul className="da-queue" aria-label="Waiting messages">
      {queued.map(({ opId, message }) => (
        <li key={opId} className="da-queued">
          <span className="da-queued-text" title={message}>
            {message || 'A message'}
          </span>
          <button
            type="button"
            className="da-link"
            onClick={() => model.sendNow(opId)}
          >
            Send now
          </button>
          <button
            type="button"
            className="da-link"
            onClick={() => model.dequeue(opId)}
          >
            Remove
          </button>
        </li>
      ))}
    </ul>
  );
}
