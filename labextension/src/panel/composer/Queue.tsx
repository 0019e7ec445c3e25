import React, { useRef } from 'react';

import { useValue } from '../../session/observable';
import { usePanel } from '../context';
import { useBroughtUp } from '../../ui/scrolling';

/** Messages that wait until the running turn has ended, or, once a turn was stopped, for the user. */
export function Queue(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { queued } = useValue(store.conversation);
  const list = useRef<HTMLUListElement>(null);
  useBroughtUp(list, queued[queued.length - 1]?.opId);
  if (!queued.length) {
    return null;
  }
  return (
    <ul className="da-queue" ref={list} aria-label="Queued messages">
      {queued.map(({ opId, message, held }) => (
        <li key={opId} className="da-queued" data-held={held || undefined}>
          <span className="da-queued-text" title={message}>
            {message || 'A message'}
          </span>
          {held && <span className="da-queued-held">Not sent: stopped</span>}
          <button
            type="button"
            className="da-link"
            onClick={() => model.ops.send({ type: 'send_now', opId })}
          >
            {held ? 'Send' : 'Send now'}
          </button>
          <button
            type="button"
            className="da-link"
            onClick={() => model.ops.send({ type: 'dequeue', opId })}
          >
            Remove
          </button>
        </li>
      ))}
    </ul>
  );
}
