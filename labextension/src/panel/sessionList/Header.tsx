import { addIcon, settingsIcon } from '@jupyterlab/ui-components';
import React, { useState } from 'react';

import { scratchpadIcon, waitingIcon } from '../../ui/icons';
import { planWaits } from '../../session/plan';
import { waitingIn, emptyTurn } from '../../session/turn';
import { Observable, useValue } from '../../session/observable';
import { goToWaiting } from './waiting';
import { IconButton } from '../../ui/IconButton';
import { PromptList } from './PromptList';
import { SessionList } from './SessionList';
import { usePanel } from '../context';

const WAITING = 'Waiting for you';
const NO_TURN = new Observable(emptyTurn(''));

/** The session's title, what waits for the user, and the ways to other sessions. */
export function Header(): JSX.Element {
  const { model, openSettings } = usePanel();
  return (
    <header className="da-header">
      <Title />
      <Waiting />
      <IconButton
        icon={addIcon}
        label="New session"
        data-testid="da-new-session"
        onClick={() => model.sessions.startNew()}
      />
      <PromptList />
      <IconButton
        icon={scratchpadIcon}
        label="Scratchpad"
        data-testid="da-scratchpad"
        onClick={() => void model.scratchpad.open()}
      />
      <SessionList />
      <IconButton icon={settingsIcon} label="Settings" onClick={openSettings} />
    </header>
  );
}

/** The title; a click makes it a field. */
function Title(): JSX.Element {
  const { model } = usePanel();
  const { sessionId, store } = useValue(model.shown);
  const { title } = useValue(store.conversation);
  const [draft, setDraft] = useState<string | null>(null);
  if (!sessionId) {
    return <h2 className="da-title">New session</h2>;
  }
  if (draft === null) {
    return (
      <h2 className="da-title">
        <button
          type="button"
          className="da-title-button"
          title={`${title || 'Untitled session'} (click to rename)`}
          onClick={() => setDraft(title ?? '')}
        >
          {title || 'Untitled session'}
        </button>
      </h2>
    );
  }
  const finish = (save: boolean) => {
    setDraft(null);
    if (save && draft.trim() && draft !== title) {
      void model.sessions.rename(draft);
    }
  };
  return (
    <input
      className="da-field da-title"
      aria-label="Title of the session"
      maxLength={200}
      autoFocus
      value={draft}
      onChange={event => setDraft(event.target.value)}
      onBlur={() => finish(true)}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          finish(true);
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          finish(false);
        }
      }}
    />
  );
}

/** A light in the header while something waits for the user; a click goes there. */
function Waiting(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId } = useValue(store.conversation);
  const turn = useValue(runningTurnId ? store.turn(runningTurnId) : NO_TURN);
  if (!runningTurnId || !(waitingIn(turn).length || planWaits(turn))) {
    return null;
  }
  return (
    <button
      type="button"
      className="da-waiting-light"
      title={WAITING}
      aria-label={WAITING}
      onClick={event => goToWaiting(event.currentTarget.closest('.da-panel'))}
    >
      <waitingIcon.react
        tag="span"
        width="14px"
        height="14px"
        aria-hidden="true"
      />
      <span className="da-waiting-words">{WAITING}</span>
    </button>
  );
}
