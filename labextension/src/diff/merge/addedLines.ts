import { highlightingFor, language } from '@codemirror/language';
import { EditorView, WidgetType } from '@codemirror/view';
import { highlightTree } from '@lezer/highlight';

import type { IHunkActions } from './state';
import { changedPart, IHunk } from './hunks';

/** The new lines of a hunk below the old ones, with its two buttons. */
export class AddedLines extends WidgetType {
  constructor(
    private readonly _hunk: IHunk,
    private readonly _old: readonly string[],
    private readonly _isComplete: boolean,
    private readonly _isCurrent: boolean,
    private readonly _actions: IHunkActions
  ) {
    super();
  }

  eq(other: AddedLines): boolean {
    const { id, added, touched } = this._hunk;
    return (
      other._hunk.id === id &&
      other._hunk.added === added &&
      other._hunk.touched === touched &&
      other._isComplete === this._isComplete &&
      other._isCurrent === this._isCurrent &&
      other._actions === this._actions &&
      other._old.join('\n') === this._old.join('\n')
    );
  }

  toDOM(view: EditorView): HTMLElement {
    const dom = document.createElement('div');
    dom.contentEditable = 'false';
    this.updateDOM(dom, view);
    return dom;
  }

  /** The same elements over the whole stream: nothing jumps, and only what is new is drawn. */
  updateDOM(dom: HTMLElement, view: EditorView): boolean {
    const { added, insert, touched } = this._hunk;
    dom.className = 'da-added';
    dom.classList.toggle('da-mod-current', this._isCurrent);
    dom.classList.toggle('da-mod-growing', !this._isComplete);
    let lines = dom.querySelector<HTMLElement>(':scope > .da-added-lines');
    dom.querySelector(':scope > .da-hunk-controls')?.remove();
    if (!insert) {
      lines?.remove();
    } else if (lines) {
      drawLines(lines, added, view, this._changedParts(added));
    } else {
      lines = renderLines(added, view, this._changedParts(added));
      dom.prepend(lines);
    }
    if (this._isComplete) {
      dom.append(this._controls(touched));
    }
    return true;
  }

  get estimatedHeight(): number {
    return this._hunk.insert ? this._hunk.added.split('\n').length * 17 : 20;
  }

  get lineBreaks(): number {
    return 0;
  }

  ignoreEvent(): boolean {
    return true;
  }

  private _changedParts(added: string): [number, number][] {
    return added
      .split('\n')
      .map((text, index) =>
        index < this._old.length && this._hunk.from !== this._hunk.to
          ? changedPart(text, this._old[index])
          : [0, 0]
      );
  }

  private _controls(touched: boolean): HTMLElement {
    const bar = document.createElement('div');
    bar.className = 'da-hunk-controls';
    if (touched) {
      const note = document.createElement('span');
      note.className = 'da-hunk-note';
      note.textContent = 'You edited these lines';
      bar.appendChild(note);
    }
    const { id } = this._hunk;
    bar.append(
      linesButtons(
        ['Accept', 'Accept this change', () => this._actions.accept(id)],
        ['Reject', 'Reject this change', () => this._actions.reject(id)]
      )
    );
    return bar;
  }
}

/** New lines in the editor's own colours; `changed` says which part of each is new. */
export function renderLines(
  added: string,
  view: EditorView | null,
  changed: readonly [number, number][] = []
): HTMLElement {
  const lines = document.createElement('div');
  lines.className = 'da-added-lines';
  lines.setAttribute('role', 'group');
  lines.setAttribute('aria-label', 'Proposed lines');
  drawLines(lines, added, view, changed);
  return lines;
}

/** A piece of a line: its text and its classes. */
type Piece = readonly [text: string, style: string];

/** The pieces of each row that is drawn, to see by them which rows to draw anew. */
const drawn = new WeakMap<Element, string>();

/** Draw other lines in the place of those that `renderLines` drew; rows that are the same stay. */
export function drawLines(
  lines: HTMLElement,
  added: string,
  view: EditorView | null,
  changed: readonly [number, number][] = []
): void {
  const rows = rowsOf(added, view, changed);
  for (let extra = lines.childElementCount - rows.length; extra > 0; extra--) {
    lines.lastElementChild!.remove();
  }
  let row = lines.firstElementChild;
  for (const pieces of rows) {
    row ??= addRow(lines);
    const key = JSON.stringify(pieces);
    if (drawn.get(row) !== key) {
      drawn.set(row, key);
      row.replaceChildren(...pieces.map(spanOf));
    }
    row = row.nextElementSibling;
  }
}

function addRow(lines: HTMLElement): HTMLElement {
  const row = document.createElement('div');
  row.className = 'da-added-line';
  lines.appendChild(row);
  return row;
}

function spanOf([text, style]: Piece): HTMLElement {
  const span = document.createElement('span');
  span.className = style;
  span.textContent = text;
  return span;
}

/** The pieces of each line. */
function rowsOf(
  added: string,
  view: EditorView | null,
  changed: readonly [number, number][]
): Piece[][] {
  const rows: Piece[][] = [[]];
  let column = 0;
  for (const { text, style } of colour(added, view)) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) {
        rows.push([]);
        column = 0;
      }
      const span = changed[rows.length - 1] ?? [0, 0];
      rows[rows.length - 1].push(...piecesOf(part, style, column, span));
      column += part.length;
    }
  }
  return rows;
}

/** A part of a line that begins at this column, with what of it is new marked. */
function piecesOf(
  text: string,
  style: string,
  column: number,
  [start, end]: [number, number]
): Piece[] {
  const cuts = [0, start - column, end - column, text.length]
    .map(cut => Math.min(Math.max(cut, 0), text.length))
    .sort((one, other) => one - other);
  return cuts.slice(1).flatMap((cut, index): Piece[] => {
    const part = text.slice(cuts[index], cut);
    const at = column + cuts[index];
    const isNew = at >= start && at < end;
    return part ? [[part, `${style}${isNew ? ' da-added-text' : ''}`]] : [];
  });
}

/** A text in pieces with the classes of the editor's own colours. */
function colour(
  text: string,
  view: EditorView | null
): { text: string; style: string }[] {
  const parser = view?.state.facet(language)?.parser;
  if (!view || !parser) {
    return [{ text, style: '' }];
  }
  const pieces: { text: string; style: string }[] = [];
  let done = 0;
  const take = (to: number, style: string) => {
    if (to > done) {
      pieces.push({ text: text.slice(done, to), style });
      done = to;
    }
  };
  highlightTree(
    parser.parse(text),
    { style: tags => highlightingFor(view.state, tags) },
    (from, to, style) => {
      take(from, '');
      take(to, style);
    }
  );
  take(text.length, '');
  return pieces;
}

/** A button at new lines: what it reads, what it is called, and what it does. */
export type LinesButton = readonly [
  text: string,
  label: string,
  act: () => void
];

/** Buttons that stay on one line, for the mouse: by keys, others do the same. */
export function linesButtons(...buttons: readonly LinesButton[]): HTMLElement {
  const all = document.createElement('span');
  all.className = 'da-hunk-buttons';
  for (const [text, label, act] of buttons) {
    const button = document.createElement('button');
    button.type = 'button';
    button.tabIndex = -1;
    button.textContent = text;
    button.title = label;
    button.setAttribute('aria-label', label);
    button.className = 'da-hunk-button';
    // The cursor stays where it is in the editor.
    button.addEventListener('mousedown', event => event.preventDefault());
    button.addEventListener('click', act);
    all.appendChild(button);
  }
  return all;
}
