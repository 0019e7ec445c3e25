import { historyIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useRef, useState } from 'react';

import { Session } from '../../api/types';
import { useValue } from '../../session/observable';
import { FoundTurns } from './FoundTurns';
import { Popup } from '../Popup';
import { SessionRow } from './SessionRow';
import { usePanel } from '../context';

/** The sessions, newest first, to switch to. */
export function SessionList(): JSX.Element {
  return (
    <Popup
      icon={historyIcon}
      label="Sessions"
      role="dialog"
      placement="below"
      testId="da-session-list"
    >
      {close => <Sessions close={close} />}
    </Popup>
  );
}

function Sessions(props: { close: () => void }): JSX.Element {
  const { model } = usePanel();
  const { sessionId } = useValue(model.shown);
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<Session[] | null>(null);
  const [cursor, setCursor] = useState<string | undefined>();
  const [failure, setFailure] = useState('');
  const search = useRef<HTMLInputElement>(null);
  // What was asked for before a deletion may come after it.
  const sessions = found?.filter(({ id }) => !model.sessions.isDeleted(id));

  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(
      () => {
        model.client
          .listSessions({ query: query || undefined, limit: 30 })
          .then(page => {
            if (isCurrent) {
              setFound(page.sessions);
              setCursor(page.nextCursor);
              setFailure('');
            }
          })
          .catch((error: Error) => isCurrent && setFailure(error.message));
      },
      query ? 200 : 0
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [model, query]);

  const more = () =>
    void model.client
      .listSessions({ query: query || undefined, limit: 30, cursor })
      .then(page => {
        setFound(list =>
          found && list === found ? [...found, ...page.sessions] : list
        );
        setCursor(page.nextCursor);
      })
      .catch((error: Error) => setFailure(error.message));

  return (
    <>
      <input
        ref={search}
        className="da-field"
        type="search"
        aria-label="Find a session"
        placeholder="Search sessions and messages"
        value={query}
        onChange={event => setQuery(event.target.value)}
      />
      {failure && <div className="da-notice da-mod-error">{failure}</div>}
      {sessions?.length === 0 && (
        <div className="da-dim da-padded">
          {query ? 'No matching sessions.' : 'No sessions yet.'}
        </div>
      )}
      <ul className="da-sessions">
        {sessions?.map(session => (
          <SessionRow
            key={session.id}
            session={session}
            isShown={session.id === sessionId}
            onOpen={() => {
              props.close();
              void model.sessions.open(session.id);
            }}
            // The list may be another one by now: what is typed goes on being looked for.
            onRenamed={title =>
              setFound(list => replaced(list ?? [], { ...session, title }))
            }
            onDeleted={() => {
              setFound(list => without(list ?? [], session.id));
              search.current?.focus();
            }}
          />
        ))}
      </ul>
      {cursor && (
        <button type="button" className="da-link da-padded" onClick={more}>
          More
        </button>
      )}
      <FoundTurns query={query} close={props.close} />
    </>
  );
}

function without(sessions: Session[], gone: string): Session[] {
  return sessions.filter(({ id }) => id !== gone);
}

function replaced(sessions: Session[], session: Session): Session[] {
  return sessions.map(other => (other.id === session.id ? session : other));
}
