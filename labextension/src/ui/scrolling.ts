import {
  RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState
} from 'react';

import { ConversationStore } from '../session/store';

/** As near to the end as counts as being there, in pixels. */
const NEAR = 24;

/** The class of a long list that is no running text: its turn is shown from its beginning. */
export const READ_FROM_START = 'da-read-from-start';

/**
 * Keep the end in view while the content grows, unless the user scrolled away from it.
 *
 * Whether they did is known from scrolling up only: growth alone never counts as leaving.
 */
export function useStayAtEnd(
  scroller: RefObject<HTMLDivElement>,
  content: RefObject<HTMLDivElement>,
  store: ConversationStore
): [boolean, () => void, () => void] {
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);

  const goToEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    const node = scroller.current;
    // What an empty conversation says is read from the top.
    if (node && store.conversation.current.turnIds.length) {
      node.scrollTop = node.scrollHeight;
    }
  }, [scroller, store]);

  const stayHere = useCallback(() => {
    follows.current = false;
  }, []);

  /** Go to what is new: the end, or the beginning of a turn that is read from there. */
  const goToNewest = useCallback(() => {
    const node = scroller.current;
    const turn = [...(node?.querySelectorAll('[data-turn]') ?? [])].pop();
    const isRead = turn?.querySelector(`.${READ_FROM_START}`);
    if (node && turn && isRead && turn.clientHeight > node.clientHeight) {
      node.scrollTop +=
        turn.getBoundingClientRect().top - node.getBoundingClientRect().top;
      follows.current = false;
      setAtEnd(false);
    } else {
      goToEnd();
    }
  }, [scroller, goToEnd]);

  // Another session begins at its end, and so does a new message of the user.
  useLayoutEffect(() => {
    follows.current = true;
    goToNewest();
  }, [goToNewest, store]);
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
        goToNewest();
        last = node.scrollTop;
      } else {
        setAtEnd(
          node.scrollHeight - node.scrollTop - node.clientHeight <= NEAR
        );
      }
    });
    // What the user opens grows from where they clicked, and not away from them.
    const onClick = (event: Event) => {
      if ((event.target as Element).closest('[aria-expanded]')) {
        follows.current = false;
      }
    };
    observer.observe(content.current);
    observer.observe(node);
    node.addEventListener('scroll', onScroll, { passive: true });
    node.addEventListener('click', onClick);
    return () => {
      observer.disconnect();
      node.removeEventListener('click', onClick);
      node.removeEventListener('scroll', onScroll);
    };
  }, [scroller, content, goToNewest]);

  return [isAtEnd, goToEnd, stayHere];
}

/** Keep what the user reads where it is when older turns come above it. */
export function useKeepPlace(
  scroller: RefObject<HTMLDivElement>,
  store: ConversationStore,
  firstId: string | undefined
): void {
  const place = useRef<{ turn: Element; top: number } | null>(null);

  useEffect(() => {
    let first = store.conversation.current.turnIds[0];
    return store.conversation.subscribe(() => {
      const now = store.conversation.current.turnIds[0];
      const turn = scroller.current?.querySelector('.da-turn[data-turn]');
      // The page still shows the turns as they were before.
      if (first && now !== first && turn) {
        place.current = { turn, top: turn.getBoundingClientRect().top };
      }
      first = now;
    });
  }, [scroller, store]);

  useLayoutEffect(() => {
    if (place.current && scroller.current) {
      const { turn, top } = place.current;
      scroller.current.scrollTop += turn.getBoundingClientRect().top - top;
      place.current = null;
    }
  }, [scroller, firstId]);
}

/** Scroll the place that an element shares with others to it, each time `what` it shows is new. */
export function useBroughtUp(
  element: RefObject<HTMLElement>,
  what: unknown
): void {
  useEffect(() => {
    const node = element.current;
    const place = node?.parentElement;
    if (what && node && place) {
      place.scrollTop +=
        node.getBoundingClientRect().top - place.getBoundingClientRect().top;
    }
  }, [element, what]);
}
