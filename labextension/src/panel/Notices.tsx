import { closeIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useRef } from 'react';

import { useValue } from '../session/observable';
import { IconButton } from '../ui/IconButton';
import { usePanel } from './context';

/** How long it is shown, in ms, while nobody points at it. */
const SHOWN_MS = 6000;

/** What was done in passing, above the input, where a notification would cover it. */
export function ActionNotice(): JSX.Element {
  const { model } = usePanel();
  const notice = useValue(model.actionNotice);
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!notice) {
      return;
    }
    const timer = setInterval(() => {
      if (!line.current?.matches(':hover, :focus-within')) {
        model.actionNotice.set(null);
      }
    }, SHOWN_MS);
    return () => clearInterval(timer);
  }, [model, notice]);
  // The status element must exist before its text, or screen readers skip it.
  return (
    <div role="status">
      {notice && (
        <div className="da-notice-text" data-testid="da-notice-text" ref={line}>
          <span>{notice.message}</span>
          <button type="button" className="da-link" onClick={notice.action.run}>
            {notice.action.label}
          </button>
          <IconButton
            icon={closeIcon}
            label="Close"
            onClick={() => model.actionNotice.set(null)}
          />
        </div>
      )}
    </div>
  );
}
