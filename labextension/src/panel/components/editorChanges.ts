import { useEffect, useReducer } from 'react';

import { usePanel } from './context';

/** Draw again when another notebook is active or a kernel's state changes. */
export function useEditorChanges(): void {
  const { editor } = usePanel().model;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const onChange = () => redraw();
    editor.changed.connect(onChange);
    return () => {
      editor.changed.disconnect(onChange);
    };
  }, [editor]);
}
