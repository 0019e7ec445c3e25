import { copyIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { ITurn } from '../state/turn';
import { abortWords, doneAndNot, usageWords } from '../state/words';
import { IconButton } from './IconButton';
import { copyText } from '../rendering';
import { useReadiness } from './Readiness';
import { useCellNumber, usePanel } from './context';

/** How the turn ended and what it took. */
export function TurnFoot(props: { turn: ITurn }): JSX.Element {
  const { turn } = props;
  const { model } = usePanel();
  const hasError = turn.entries.some(
    entry => entry.kind === 'notice' && entry.level === 'error'
  );
  const isBroken = turn.status === 'aborted' && turn.abortReason === 'error';
  const { isReady } = useReadiness();
  const canRetry =
    turn.entries.some(
      entry =>
        entry.kind === 'notice' &&
        (entry.retryable || (entry.code === 'no_model' && isReady))
    ) ||
    (isBroken && !hasError);
  const reply = turn.entries
    .map(entry => (entry.kind === 'text' ? entry.text : ''))
    .filter(text => text.trim())
    .join('\n\n');
  return (
    <>
      {turn.status === 'aborted' && !(isBroken && hasError) && (
        <Stopped turn={turn} />
      )}
      {canRetry && turn.message && (
        <div className="da-buttons">
          <button
            type="button"
            className="da-button"
            onClick={() => void model.send(turn.message)}
          >
            Try again
          </button>
        </div>
      )}
      <footer className="da-foot">
        <span>{usageWords(turn.usage, turn.durationMs)}</span>
        {reply && (
          <IconButton
            icon={copyIcon}
            label="Copy the answer"
            className="da-foot-button"
            onClick={() => void copyText(reply)}
          />
        )}
      </footer>
    </>
  );
}

/** What was done, and then that it was stopped and what was not done. */
function Stopped(props: { turn: ITurn }): JSX.Element {
  const { turn } = props;
  const { done, not } = doneAndNot(turn, useCellNumber(turn.target));
  return (
    <div className="da-stopped">
      <div>
        {done.length
          ? `Done before: ${done.join('; ')}.`
          : 'Nothing was changed or run.'}
      </div>
      <div>
        {abortWords(turn)}
        {not.length > 0 && ` Not finished: ${not.join('; ')}.`}
      </div>
    </div>
  );
}
