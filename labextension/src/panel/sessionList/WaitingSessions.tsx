import React from 'react';

import { useValue } from '../../session/observable';
import { goToWaitingSoon } from './waiting';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';

/** Says that a session waits for the user which is not shown, and leads there. */
export function WaitingSessions(): JSX.Element | null {
  const { model } = usePanel();
  const composer = useComposer();
  const [newest, ...more] = useValue(model.otherSessions);
  if (!newest) {
    return null;
  }
  const title = newest.title.trim() || 'Untitled session';
  const open = async (panel: Element | null) => {
    await model.sessions.open(newest.sessionId);
    if (!(await goToWaitingSoon(panel))) {
      composer.focus();
    }
  };
  return (
    <div
      className="da-waits-elsewhere"
      data-testid="da-waits-elsewhere"
      role="status"
    >
      <span className="da-waits-label">
        Another session waits for you:{' '}
        <span className="da-waits-title">{title}</span>
        {more.length > 0 && ` and ${more.length} more`}
      </span>
      <button
        type="button"
        className="da-link"
        aria-label={`Open ${title}, which waits for you`}
        onClick={event => void open(event.currentTarget.closest('.da-panel'))}
      >
        Open
      </button>
    </div>
  );
}
