import React, {
  memo,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState
} from 'react';

import { ConversationStore } from '../state/store';
import { useValue } from '../state/value';
import { TurnView } from './Turn';
import { Welcome } from './Welcome';
import { usePanel } from './context';

/** As near to the end as counts as being there, in pixels. */
const NEAR = 24;

/** The turns, scrolled to the end as long as the person is there. */
export function Conversation(): JSX.Element {
  const { model } = usePanel();
  const shown = useValue(model.shown);
  const { turnIds } = useValue(shown.store.conversation);
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [isAtEnd, goToEnd] = useStayAtEnd(scroller, content, shown.store);

  const isEmpty = turnIds.length === 0;
  const onScroll = () => {
    if (scroller.current && scroller.current.scrollTop < 200 && shown.before) {
      void model.loadOlder();
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
              onClick={() => void model.loadOlder()}
            >
              {shown.isLoading ? 'Loading earlier messages' : 'Earlier messages'}
            </button>
          )}
          {isEmpty && shown.isLoading && (
            <div className="da-working">Loading the conversation</div>
          )}
          {isEmpty && !shown.isLoading && <Welcome />}
          <Turns store={shown.store} ids={turnIds} />
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

const Turns = memo(function Turns(props: {
  store: ConversationStore;
  ids: readonly string[];
}): JSX.Element {
  return (
    <>
      {props.ids.map(id => (
        <TurnView key={id} turn={props.store.turn(id)} />
      ))}
    </>
  );
});

/**
 * Keep the end in view while the content grows, unless the person scrolled away from it.
 *
 * Whether they did is known from scrolling up only: growth alone never counts as leaving.
 */
function useStayAtEnd(
  scroller: React.RefObject<HTMLDivElement>,
  content: React.RefObject<HTMLDivElement>,
  store: ConversationStore
): [boolean, () => void] {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);

  const goToEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    const node = scroller.current;
    if (node) {
      node.scrollTop = node.scrollHeight;
    }
  }, [scroller]);

  // Another session begins at its end, and so does a new message of the person.
  useLayoutEffect(goToEnd, [goToEnd, store]);
  useEffect(() => {
    let running = store.conversation.current.runningTurnId;
    return store.conversation.subscribe(() => {
      const now = store.conversation.current.runningTurnId;
      if (now && now !== running) {
        requestAnimationFrame(goToEnd);
      }
      running = now;
    });
  }, [store, goToEnd]);

  useEffect(() => {
    const node = scroller.current;
    if (!node || !content.current) {
      return;
    }
    let last = node.scrollTop;
    const onScroll = () => {
      const top = node.scrollTop;
      const isNear = node.scrollHeight - top - node.clientHeight <= NEAR;
      if (isNear) {
        follows.current = true;
      } else if (top < last) {
        follows.current = false;
      }
      last = top;
      setAtEnd(follows.current);
    };
    const observer = new ResizeObserver(() => {
      if (follows.current) {
        node.scrollTop = node.scrollHeight;
        last = node.scrollTop;
      }
    });
    observer.observe(content.current);
    observer.observe(node);
    node.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      node.removeEventListener('scroll', onScroll);
    };
  }, [scroller, content]);

  return [isAtEnd, goToEnd];
}
