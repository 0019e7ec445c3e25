import { RefObject, useEffect, useState } from 'react';

import { IShown } from '../sessionList/sessionController';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** How long a turn that was jumped to is marked, in ms. */
const MARK_MS = 2000;

/** How long a turn is held in place while what is around it finds its size, in ms. */
const SETTLE_MS = 800;

/** Bring the turn that the user asked to see into view; the id of the one that is marked. */
export function useMarkedTurn(
  scroller: RefObject<HTMLDivElement>,
  shown: IShown,
  stayHere: () => void
): string | null {
  const { model } = usePanel();
  const mark = useValue(model.sessions.marked);
  const [marked, setMarked] = useState<string | null>(null);

  useEffect(() => {
    if (!mark || shown.isLoading) {
      return;
    }
    const { turnId } = mark;
    stayHere();
    setMarked(turnId);
    const release = holdInView(scroller.current, turnId);
    const timer = setTimeout(() => {
      setMarked(null);
      if (model.sessions.marked.current === mark) {
        model.sessions.marked.set(null);
      }
    }, MARK_MS);
    return () => {
      clearTimeout(timer);
      setMarked(null);
      release();
    };
    // A page of turns that comes later moves nothing: only another mark, or another conversation.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [mark, shown.store, shown.isLoading && !!mark, stayHere]);

  return marked;
}

/** Keep a turn at the top while turns above it are laid out, unless the user moves. */
function holdInView(scroller: HTMLElement | null, turnId: string): () => void {
  if (!scroller) {
    return () => undefined;
  }
  let frame = 0;
  const until = performance.now() + SETTLE_MS;
  const hold = (now: number) => {
    const turn = scroller.querySelector(`[data-turn="${CSS.escape(turnId)}"]`);
    if (turn) {
      const { top } = turn.getBoundingClientRect();
      const away = top - scroller.getBoundingClientRect().top;
      if (Math.abs(away) > 1) {
        scroller.scrollTop += away;
      }
    }
    if (now < until) {
      frame = requestAnimationFrame(hold);
    }
  };
  const release = () => {
    cancelAnimationFrame(frame);
    for (const type of MOVES) {
      scroller.removeEventListener(type, release);
    }
  };
  for (const type of MOVES) {
    scroller.addEventListener(type, release, { passive: true });
  }
  frame = requestAnimationFrame(hold);
  return release;
}

const MOVES = ['wheel', 'pointerdown', 'keydown'] as const;
