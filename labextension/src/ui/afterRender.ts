import { useCallback, useLayoutEffect, useRef, useState } from 'react';

/**
 * Do something after the render that what is set along with the call leads to: give the focus to a
 * button that comes up then, say. A frame is no such moment: what is set after an `await` may be
 * rendered later.
 */
export function useAfterRender(act: () => void): () => void {
  const latest = useRef(act);
  latest.current = act;
  const [calls, setCalls] = useState(0);
  useLayoutEffect(() => {
    if (calls > 0) {
      latest.current();
    }
  }, [calls]);
  return useCallback(() => setCalls(count => count + 1), []);
}
