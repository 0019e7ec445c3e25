import { Clipboard } from '@jupyterlab/apputils';
import { copyIcon } from '@jupyterlab/ui-components';
import React, { useMemo } from 'react';

import { scratchpadIcon } from '../../ui/icons';
import { mayGoOn } from '../../session/finalReply';
import { openChanges } from '../../session/reduceDecided';
import { isResumable } from '../../session/plan';
import { ITurn, textsOf } from '../../session/turn';
import { useValue } from '../../session/observable';
import { usageParts } from './usageLabels';
import { abortLabel, doneAndNot } from '../../session/turnLabels';
import { IconButton } from '../../ui/IconButton';
import { isLast } from '../answers/answersController';
import { TurnMenu } from './TurnMenu';
import { Used } from './Used';
import { useReadiness } from './Readiness';
import { useCellNumber, usePanel } from '../context';

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
  // A plan that stopped, or was not approved, has said so.
  const saysItself =
    turn.plan?.state === 'rejected' ||
    (turn.plan?.state === 'stopped' && turn.abortReason === 'error');
  const reply = textsOf(turn).join('\n\n');
  return (
    <>
      {turn.status === 'aborted' && !(isBroken && hasError) && !saysItself && (
        <Stopped turn={turn} />
      )}
      {canRetry && !isResumable(turn) && turn.message && (
        <div className="da-buttons">
          <button
            type="button"
            className="da-button"
            onClick={() => void model.sendAgain(turn)}
          >
            Try again
          </button>
        </div>
      )}
      {mayGoOn(turn) && <Continue turn={turn} />}
      {turn.facts && (
        <div className="da-facts" data-testid="da-facts">
          {turn.facts.message}
        </div>
      )}
      <footer className="da-foot">
        <Used parts={usageParts(turn.usage, turn.durationMs)} />
        <span className="da-foot-acts">
          {reply && (
            <IconButton
              icon={copyIcon}
              label="Copy the answer"
              className="da-foot-button"
              onClick={() => Clipboard.copyToSystem(reply)}
            />
          )}
          {reply && (
            <IconButton
              icon={scratchpadIcon}
              label="Send the answer to the scratchpad"
              className="da-foot-button"
              data-testid="da-keep-answer"
              onClick={() =>
                void model.scratchpad.send({ content: reply, turnId: turn.id })
              }
            />
          )}
          <UndoOlder turn={turn} />
          <TurnMenu turn={turn} />
        </span>
      </footer>
    </>
  );
}

/** Asks for the rest of an answer that was cut off, while nothing came after it. */
function Continue(props: { turn: ITurn }): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  useValue(store.conversation);
  return isLast(store, props.turn) ? (
    <div className="da-buttons">
      <button
        type="button"
        className="da-button"
        data-testid="da-continue"
        onClick={() => void model.send('Continue')}
      >
        Continue
      </button>
    </div>
  ) : null;
}

/** What was done, and then that it was stopped and what was not done. */
function Stopped(props: { turn: ITurn }): JSX.Element {
  const { turn } = props;
  const { done, not, hadBegun } = doneAndNot(turn, useCellNumber(turn.target));
  return (
    <div className="da-stopped">
      {done.length > 0 && <div>{`Completed: ${done.join('; ')}.`}</div>}
      <div>
        {abortLabel(turn)}
        {!done.length && !hadBegun && ' No changes made.'}
        {not.length > 0 && ` Not finished: ${not.join('; ')}.`}
        {hadBegun && ' Effects of code that already ran remain.'}
      </div>
    </div>
  );
}

/** Undo for a turn that is not the newest to be decided about, which the changes bar is about. */
function UndoOlder(props: { turn: ITurn }): JSX.Element | null {
  const { model } = usePanel();
  const { turn } = props;
  const { store } = useValue(model.shown);
  const undecided = useValue(store.undecided);
  const { runningTurnId } = useValue(store.conversation);
  const isBusy = useValue(model.changes.deciding) !== null;
  const open = useMemo(() => openChanges(turn).length, [turn]);
  if (!open || undecided === turn.id || runningTurnId) {
    return null;
  }
  return (
    <button
      type="button"
      className="da-link"
      data-testid="da-undo-older"
      title="Undo the agent's changes in this turn; later edits are kept"
      disabled={isBusy}
      onClick={() => model.changes.undo(turn.id)}
    >
      Undo changes
    </button>
  );
}
