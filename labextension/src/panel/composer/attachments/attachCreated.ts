import { Event } from '../../../api/types';
import { ComposerState } from '../composerState';

/**
 * A notebook that a turn makes is attached: the server counts it so, and the chips say what is
 * sent. One that is deleted again by an undo is not.
 */
export function attachMade(composerState: ComposerState, event: Event): void {
  if (event.type === 'document_changed') {
    const made = event.changes.some(({ op }) => op === 'create');
    if (made && event.path.endsWith('.ipynb')) {
      composerState.attach({ kind: 'notebook', path: event.path });
    }
  } else if (event.type === 'changes_undone') {
    for (const { op, path, cellId } of event.changes) {
      if (op === 'delete' && !cellId) {
        composerState.detachNotebook(path);
      }
    }
  }
}
