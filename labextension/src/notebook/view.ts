import { MarkdownCell } from '@jupyterlab/cells';
import { CodeEditor } from '@jupyterlab/codeeditor';
import { Notebook } from '@jupyterlab/notebook';

/** Where a user is in a notebook: what an edit from outside must leave alone. */
interface IView {
  /** The ids of all cells, in order. */
  readonly order: string[];
  readonly activeIndex: number;
  readonly mode: Notebook['mode'];
  readonly selected: string[];
  /** Whether the keyboard is in the notebook. */
  readonly focused: boolean;
  readonly editor: CodeEditor.IEditor | null;
  readonly cursor: CodeEditor.IRange | null;
  readonly rendered: Set<string>;
  readonly anchor: { id: string; top: number } | null;
}

/**
 * Change a notebook's document and leave the user's view of it as it was: mode, active cell,
 * cursor, selected cells and what is on the screen.
 *
 * JupyterLab keeps the active cell only over a single insertion or removal: with several in one
 * transaction it drifts to other cells, focuses their editors and unrenders their Markdown.
 */
export function keepingView(notebook: Notebook, change: () => void): void {
  const view = capture(notebook);
  if (view.mode === 'edit') {
    // In command mode a cell that becomes active for a moment stays as it is.
    setMode(notebook, 'command');
  }
  try {
    change();
  } finally {
    restore(notebook, view);
  }
}

function capture(notebook: Notebook): IView {
  const { widgets, activeCell, mode } = notebook;
  const editor = mode === 'edit' ? (activeCell?.editor ?? null) : null;
  return {
    order: widgets.map(widget => widget.model.id),
    activeIndex: notebook.activeCellIndex,
    mode,
    selected: widgets
      .filter(widget => notebook.isSelected(widget))
      .map(widget => widget.model.id),
    focused: notebook.node.contains(document.activeElement),
    editor,
    cursor: editor?.getSelection() ?? null,
    rendered: new Set(
      widgets
        .filter(widget => widget instanceof MarkdownCell && widget.rendered)
        .map(widget => widget.model.id)
    ),
    anchor: findAnchor(notebook)
  };
}

function restore(notebook: Notebook, view: IView): void {
  const places = new Map(notebook.widgets.map((w, i) => [w.model.id, i]));
  const { order, activeIndex } = view;
  const active = places.get(order[activeIndex]);
  if (active !== undefined) {
    notebook.activeCellIndex = active;
  } else {
    const neighbour = nearest(order, activeIndex, id => places.has(id));
    notebook.activeCellIndex = places.get(neighbour ?? '') ?? 0;
  }
  for (const id of view.selected) {
    const index = places.get(id);
    if (index !== undefined) {
      notebook.select(notebook.widgets[index]);
    }
  }
  for (const id of view.rendered) {
    const widget = notebook.widgets[places.get(id) ?? -1];
    if (widget instanceof MarkdownCell && !widget.rendered) {
      widget.rendered = true;
    }
  }
  // Who typed in a cell that is gone must not go on typing in another one.
  if (view.mode === 'edit' && active !== undefined) {
    restoreEditing(notebook, view);
  }
  holdScroll(notebook, view.anchor);
}

function restoreEditing(notebook: Notebook, view: IView): void {
  const cell = notebook.activeCell!;
  setMode(notebook, 'edit');
  const sameEditor = cell.editor === view.editor;
  const restoreFocus = () => {
    if (!sameEditor && view.cursor) {
      cell.editor?.setSelection(view.cursor);
    }
    if (view.focused && notebook.mode === 'edit' && !cell.editor?.hasFocus()) {
      cell.editor?.focus();
    }
  };
  if (cell.editor) {
    restoreFocus();
  } else {
    // The cell was made anew, and its editor comes with the next layout.
    void cell.ready.then(() => {
      if (notebook.activeCell === cell) {
        restoreFocus();
      }
    });
  }
}

/**
 * Set the mode and leave the focus where it is.
 *
 * To enter command mode JupyterLab focuses the active cell, also where the focus is elsewhere in the
 * page. An element without a tab index cannot take it.
 */
function setMode(notebook: Notebook, mode: Notebook['mode']): void {
  const node = notebook.activeCell?.node;
  const tabIndex = node?.getAttribute('tabindex') ?? null;
  node?.removeAttribute('tabindex');
  notebook.mode = mode;
  if (tabIndex !== null) {
    node?.setAttribute('tabindex', tabIndex);
  }
}

/** The id nearest to a place that is still there: first below, then above. */
function nearest(
  order: readonly string[],
  index: number,
  isThere: (id: string) => boolean
): string | undefined {
  return (
    order.slice(index + 1).find(isThere) ??
    order.slice(0, index).reverse().find(isThere)
  );
}

/**
 * The cell that must stay where it is on the screen, and how far under the top edge it begins: the
 * active cell if the user sees it, else the first one that they see.
 */
function findAnchor(notebook: Notebook): IView['anchor'] {
  if (!notebook.isVisible) {
    return null;
  }
  const edge = notebook.outerNode.getBoundingClientRect();
  const { activeCell } = notebook;
  if (activeCell?.isAttached) {
    const { top, bottom } = activeCell.node.getBoundingClientRect();
    if (bottom > edge.top && top < edge.bottom) {
      return { id: activeCell.model.id, top: top - edge.top };
    }
  }
  const attached = notebook.widgets.filter(widget => widget.isAttached);
  let low = 0;
  let high = attached.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (attached[middle].node.getBoundingClientRect().bottom > edge.top) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const first = attached[low];
  return first
    ? {
        id: first.model.id,
        top: first.node.getBoundingClientRect().top - edge.top
      }
    : null;
}

/** After the next layout, bring the anchor to where it was. */
function holdScroll(notebook: Notebook, anchor: IView['anchor']): void {
  if (!anchor) {
    return;
  }
  requestAnimationFrame(() => {
    const widget = notebook.widgets.find(w => w.model.id === anchor.id);
    if (!widget?.isAttached || notebook.isDisposed) {
      return;
    }
    const outer = notebook.outerNode;
    const top =
      widget.node.getBoundingClientRect().top -
      outer.getBoundingClientRect().top;
    if (Math.abs(top - anchor.top) >= 1) {
      outer.scrollTop += top - anchor.top;
    }
  });
}
