import React, { useRef } from 'react';

import { useValue } from '../../session/observable';
import { Readiness } from './Readiness';
import { UserMessage } from './Turn';
import { Turns } from './Turns';
import { Welcome } from './Welcome';
import { usePanel } from '../context';
import { useMarkedTurn } from './marking';
import { useKeepPlace, useStayAtEnd } from '../../ui/scrolling';

/** As near to the top as makes older turns load, in pixels. */
const NEAR_TOP = 200;

/** The turns, scrolled to the end as long as the user is there. */
export function Conversation(): JSX.Element {
  const { model } = usePanel();
  const shown = useValue(model.shown);
  const { turnIds, withdrawn, forkedFrom } = useValue(shown.store.conversation);
  const sending = useValue(model.messages.sending);
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isAtEnd, goToEnd, stayHere] = useStayAtEnd(
    scroller,
    content,
    shown.store
  );

  useKeepPlace(scroller, shown.store, turnIds[0]);
  const marked = useMarkedTurn(scroller, shown, stayHere);

  const isEmpty = turnIds.length === 0;
  const onScroll = () => {
    const top = scroller.current?.scrollTop ?? Infinity;
    if (top < NEAR_TOP && shown.before) {
      void model.sessions.loadOlder();
    }
  };
  return (
    <div className="da-conversation">
      <div
        className="da-scroller"
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label="Conversation"
        tabIndex={0}
        onScroll={onScroll}
      >
        <div className="da-content" ref={content}>
          {shown.before && (
            <button
              type="button"
              className="da-link da-older"
              disabled={shown.isLoading}
              onClick={() => void model.sessions.loadOlder()}
            >
              {shown.isLoading
                ? 'Loading earlier messages'
                : 'Earlier messages'}
            </button>
          )}
          {forkedFrom && !shown.before && !isEmpty && (
            <div className="da-dim da-forked">
              {'Copy of '}
              <button
                type="button"
                className="da-link"
                onClick={() =>
                  void model.sessions.open(forkedFrom.sessionId, {
                    at: forkedFrom.turnId
                  })
                }
              >
                {forkedFrom.title || 'another session'}
              </button>
            </div>
          )}
          {isEmpty && shown.isLoading && (
            <div className="da-working">Loading the conversation</div>
          )}
          {isEmpty && !shown.isLoading && !sending.length && <Welcome />}
          <Turns
            store={shown.store}
            ids={turnIds}
            withdrawn={withdrawn}
            marked={marked}
          />
          {shown.after && (
            <button
              type="button"
              className="da-link da-older da-later"
              disabled={shown.isLoading}
              onClick={() => {
                stayHere();
                void model.sessions.loadNewer();
              }}
            >
              {shown.isLoading ? 'Loading later messages' : 'Later messages'}
            </button>
          )}
          {!isEmpty && !shown.isLoading && <Readiness isFolded />}
          {sending.map(({ message }, index) => (
            <div key={index} className="da-turn">
              <UserMessage text={message} />
              <div className="da-working">
                <span className="da-working-dot" aria-hidden="true" />
                Sending
              </div>
            </div>
          ))}
        </div>
      </div>
      {(!isAtEnd || shown.after) && !isEmpty && (
        <button
          type="button"
          className="da-to-end"
          onClick={() =>
            shown.after ? void model.sessions.goToEnd() : goToEnd()
          }
        >
          Jump to latest
        </button>
      )}
    </div>
  );
}
