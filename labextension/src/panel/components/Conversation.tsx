import React, { memo, useRef } from 'react';

import { ConversationStore } from '../state/store';
import { useValue } from '../state/value';
import { Readiness } from './Readiness';
import { TurnView, UserMessage } from './Turn';
import { Welcome } from './Welcome';
import { usePanel } from './context';
import { useKeepPlace, useStayAtEnd } from './scrolling';

/** As near to the top as makes older turns load, in pixels. */
const NEAR_TOP = 200;

/** The turns, scrolled to the end as long as the person is there. */
export function Conversation(): JSX.Element {
  const { model } = usePanel();
  const shown = useValue(model.shown);
  const { turnIds } = useValue(shown.store.conversation);
  const sending = useValue(model.sending);
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isAtEnd, goToEnd] = useStayAtEnd(scroller, content, shown.store);

  useKeepPlace(scroller, shown.store, turnIds[0]);

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
          {isEmpty && shown.isLoading && (
            <div className="da-working">Loading the conversation</div>
          )}
          {isEmpty && !shown.isLoading && !sending.length && <Welcome />}
          <Turns store={shown.store} ids={turnIds} />
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
      {!isAtEnd && !isEmpty && (
        <button type="button" className="da-to-end" onClick={goToEnd}>
          To the newest
        </button>
      )}
    </div>
  );
}

const Turns = memo(
  (props: {
    store: ConversationStore;
    ids: readonly string[];
  }): JSX.Element => {
    return (
      <>
        {props.ids.map(id => (
          <TurnView key={id} turn={props.store.turn(id)} />
        ))}
      </>
    );
  }
);
