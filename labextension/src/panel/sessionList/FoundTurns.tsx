import React, { useEffect, useState } from 'react';

import { SearchHit } from '../../api/types';
import { markedParts } from '../../ui/marks';
import { withoutMarkup } from '../../ui/plainText';
import { formatWhen } from '../../ui/when';
import { usePanel } from '../context';

/** Results that are asked for at once, and at most. */
const FIRST = 20;
const MOST = 100;

/** How long nothing is typed before it is looked for, in ms. */
const QUIET_MS = 250;

interface IFound {
  query: string;
  hits: readonly SearchHit[];
  limit: number;
}

/** Messages, in any session, that has the words in it; a click leads there. */
export function FoundTurns(props: {
  query: string;
  close: () => void;
}): JSX.Element | null {
  const { model } = usePanel();
  const query = props.query.trim();
  const [found, setFound] = useState<IFound | null>(null);
  const [limit, setLimit] = useState(FIRST);
  const [failure, setFailure] = useState('');

  useEffect(() => {
    if (!query) {
      setFound(null);
      setLimit(FIRST);
      return;
    }
    let isCurrent = true;
    const timer = setTimeout(() => {
      model.client.search({ q: query, limit }).then(
        ({ results }) => {
          if (isCurrent) {
            setFound({ query, hits: results, limit });
            setFailure('');
          }
        },
        (error: Error) => isCurrent && setFailure(error.message)
      );
    }, QUIET_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [model, query, limit]);

  if (!query) {
    return null;
  }
  // What was asked for before a deletion may come after it.
  const hits = found?.hits.filter(
    ({ sessionId }) => !model.sessions.isDeleted(sessionId)
  );
  return (
    <section className="da-found" aria-label="Messages">
      <h3 className="da-found-head">Messages</h3>
      {failure && <div className="da-notice da-mod-error">{failure}</div>}
      {!found && !failure && <div className="da-dim da-padded">Searching</div>}
      {hits?.length === 0 && (
        <div className="da-dim da-padded">No matching messages.</div>
      )}
      <ul className="da-sessions">
        {hits?.map(hit => (
          <li key={`${hit.turnId}-${hit.role}`}>
            <Hit
              hit={hit}
              onOpen={() => {
                props.close();
                void model.sessions.goTo(hit.turnId, hit.sessionId);
              }}
            />
          </li>
        ))}
      </ul>
      {found && found.hits.length >= found.limit && found.limit < MOST && (
        <button
          type="button"
          className="da-link da-padded"
          onClick={() => setLimit(MOST)}
        >
          More messages
        </button>
      )}
    </section>
  );
}

function Hit(props: { hit: SearchHit; onOpen: () => void }): JSX.Element {
  const { sessionTitle, role, snippet, marks, createdAt } = props.hit;
  const pieces = markedParts(snippet, marks ?? []);
  // What the user wrote is shown as it is in the conversation, too.
  const shown = role === 'user' ? pieces : withoutMarkup(pieces);
  return (
    <button
      type="button"
      className="da-menu-item da-hit"
      data-testid="da-search-hit"
      onClick={props.onOpen}
    >
      <span className="da-hit-head">
        <span className="da-session-title">
          {sessionTitle.trim() || 'Untitled session'}
        </span>
        <span className="da-dim">{formatWhen(createdAt)}</span>
      </span>
      <span className="da-hit-text">
        <span className="da-dim">{role === 'user' ? 'You: ' : 'Agent: '}</span>
        {shown.map(({ text, isMarked }, index) =>
          isMarked ? <mark key={index}>{text}</mark> : text
        )}
      </span>
    </button>
  );
}
