import { IDisposable } from '@lumino/disposable';

import { Attachment } from '../../../api/types';

/** What a drag of an output carries: which cell it is of. */
export const OUTPUT = 'application/x-datalayer-agent-output';

// JupyterLab lays one element over the prompts of a cell's outputs.
const HANDLE = '.jp-OutputArea-prompt, .jp-OutputArea-promptOverlay';
const AREA = '.jp-Cell-outputArea';

const MARK = 'da-output-handle';
const TITLE = 'Drag this output to the agent';

/**
 * Outputs of notebooks that can be dragged, while there is something to drop them on: by the prompt
 * left of them, as cells by theirs, and whatever the browser lets be dragged in them, a picture or
 * selected text.
 */
export class OutputDrag implements IDisposable {
  constructor(
    private readonly _cellAt: (
      node: Node
    ) => { path: string; cellId: string } | null
  ) {
    document.addEventListener('pointerover', this, true);
    document.addEventListener('dragstart', this, true);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Leave the notebooks as they were. */
  dispose(): void {
    this._isDisposed = true;
    document.removeEventListener('pointerover', this, true);
    document.removeEventListener('dragstart', this, true);
    for (const handle of document.querySelectorAll<HTMLElement>(`.${MARK}`)) {
      handle.classList.remove(MARK);
      handle.removeAttribute('draggable');
      if (handle.title === TITLE) {
        handle.removeAttribute('title');
      }
    }
  }

  handleEvent(event: Event): void {
    const target = event.target;
    const node = target instanceof Node ? target : null;
    const element = node instanceof Element ? node : node?.parentElement;
    if (event.type === 'pointerover') {
      const handle = element?.closest<HTMLElement>(HANDLE);
      if (handle && !handle.draggable && handle.closest(AREA)) {
        handle.draggable = true;
        handle.classList.add(MARK);
        handle.title ||= TITLE;
      }
      return;
    }
    const cell = element?.closest(AREA) ? this._cellAt(element) : null;
    if (cell) {
      (event as DragEvent).dataTransfer?.setData(OUTPUT, JSON.stringify(cell));
    }
  }

  private _isDisposed = false;
}

/** The output that is dropped, if it is one. */
export function droppedOutput(transfer: DataTransfer): Attachment[] {
  const { path, cellId } = JSON.parse(transfer.getData(OUTPUT)) as {
    path: string;
    cellId: string;
  };
  return [{ kind: 'output', path, cellId }];
}
