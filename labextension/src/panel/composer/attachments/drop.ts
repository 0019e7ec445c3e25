import { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Contents } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';
import { Drag } from '@lumino/dragdrop';
import { Widget } from '@lumino/widgets';

import { Attachment } from '../../../api/types';
import { droppedOutput, OUTPUT } from './outputDrag';

const FILES = 'application/x-jupyter-icontents';
const CELLS = 'application/vnd.jupyter.cells';
const CELL_WIDGETS = 'internal:cells';

/** Files, and cells and outputs of notebooks, that are dropped on an element. */
export class DropTarget implements IDisposable {
  constructor(
    private readonly _node: HTMLElement,
    private readonly _contents: Contents.IManager,
    private readonly _onDrop: (attachments: Attachment[]) => void,
    /** Files of the user's computer were dropped, which no server has yet. */
    private readonly _onForeign: (files: File[]) => void
  ) {
    for (const type of [...EVENTS, ...FOREIGN_EVENTS]) {
      _node.addEventListener(type, this, true);
    }
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    for (const type of [...EVENTS, ...FOREIGN_EVENTS]) {
      this._node.removeEventListener(type, this, true);
    }
  }

  handleEvent(event: Event): void {
    if (FOREIGN_EVENTS.includes(event.type)) {
      this._onForeignEvent(event as DragEvent);
      return;
    }
    const drag = event as Drag.Event;
    if (event.type === 'lm-dragleave') {
      this._node.classList.remove('da-mod-drop');
      return;
    }
    if (!drag.mimeData.hasData(FILES) && !drag.mimeData.hasData(CELLS)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    this._node.classList.toggle('da-mod-drop', event.type !== 'lm-drop');
    if (event.type === 'lm-drop') {
      this._onDrop(this._dropped(drag));
    }
    // Another action than the proposed one may be refused, and then nothing is dropped.
    drag.dropAction = drag.proposedAction;
  }

  /** A drag from outside of the browser: without an answer it would replace JupyterLab. */
  private _onForeignEvent(event: DragEvent): void {
    const { dataTransfer, type } = event;
    // A picture in an output counts as a file to the browser, too.
    const isOutput = !!dataTransfer?.types.includes(OUTPUT);
    if (!dataTransfer || !(isOutput || dataTransfer.types.includes('Files'))) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const isOver = type === 'dragenter' || type === 'dragover';
    const mark = isOutput ? 'da-mod-drop' : 'da-mod-drop-foreign';
    this._node.classList.toggle(mark, isOver);
    if (isOver) {
      dataTransfer.dropEffect = 'copy';
    } else if (type === 'drop' && isOutput) {
      this._onDrop(droppedOutput(dataTransfer));
    } else if (type === 'drop') {
      this._onForeign([...dataTransfer.files]);
    }
  }

  private _dropped(drag: Drag.Event): Attachment[] {
    // Paths without the drive: the server knows those under its root.
    return [...droppedFiles(drag), ...droppedCells(drag)].map(attachment => ({
      ...attachment,
      path: this._contents.localPath(attachment.path ?? '')
    }));
  }

  private _isDisposed = false;
}

const EVENTS = ['lm-dragenter', 'lm-dragover', 'lm-dragleave', 'lm-drop'];
const FOREIGN_EVENTS = ['dragenter', 'dragover', 'dragleave', 'drop'];

function droppedFiles({ mimeData }: Drag.Event): Attachment[] {
  const paths = (mimeData.getData(FILES) ?? []) as string[];
  return paths.map(path => ({
    kind: path.toLowerCase().endsWith('.ipynb') ? 'notebook' : 'file',
    path
  }));
}

function droppedCells({ mimeData }: Drag.Event): Attachment[] {
  const cells = (mimeData.getData(CELL_WIDGETS) ?? []) as Cell[];
  return cells.flatMap(cell => {
    const path = notebookOf(cell)?.context.path;
    return path ? [{ kind: 'cell' as const, path, cellId: cell.model.id }] : [];
  });
}

function notebookOf(cell: Cell): NotebookPanel | null {
  let widget: Widget | null = cell;
  while (widget && !(widget instanceof NotebookPanel)) {
    widget = widget.parent;
  }
  return widget;
}
