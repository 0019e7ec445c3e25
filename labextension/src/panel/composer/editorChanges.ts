import { useEffect, useReducer } from 'react';

import { usePanel } from '../context';

/**
 * Draw again when another notebook is active or a kernel's state changes; of what changed while the
 * panel was hidden, once it is seen.
 */
export function useEditorChanges(): void {
  const { editor, isSeen } = usePanel().model;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    let isBehind = false;
    const catchUp = () => {
      if (isBehind && isSeen.current) {
        isBehind = false;
        redraw();
      }
    };
    const onChange = () => {
      isBehind = true;
      catchUp();
    };
    editor.changed.connect(onChange);
    const unsubscribe = isSeen.subscribe(catchUp);
    return () => {
      editor.changed.disconnect(onChange);
      unsubscribe();
    };
  }, [editor, isSeen]);
}
