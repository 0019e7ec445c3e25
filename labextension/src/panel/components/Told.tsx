import { closeIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useRef } from 'react';

import { useValue } from '../state/value';
import { IconButton } from './IconButton';
import { usePanel } from './context';

/** How long it is shown, in ms, while nobody points at it. */
const SHOWN_MS = 6000;

/** What was done in passing, above the input, where a notification would cover it. */
export function Told(): JSX.Element {
  const { model } = usePanel();
  const told = useValue(model.told);
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!told) {
      return;
    }
    const timer = setInterval(() => {
      if (!line.current?.matches(':hover, :focus-within')) {
        model.told.set(null);
      }
    }, SHOWN_MS);
    return () => clearInterval(timer);
  }, [model, told]);
  // The status is there before its words, else they are not read out.
  return (
    <div role="status">
      {told && (
        <div className="da-told" data-testid="da-told" ref={line}>
          <span>{told.message}</span>
          <button type="button" className="da-link" onClick={told.action.run}>
            {told.action.label}
          </button>
          <IconButton
            icon={closeIcon}
            label="Close"
            onClick={() => model.told.set(null)}
          />
        </div>
      )}
    </div>
  );
}
