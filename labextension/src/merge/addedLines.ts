import { highlightingFor, language } from '@codemirror/language';
import { EditorView, WidgetType } from '@codemirror/view';
import { highlightTree } from '@lezer/highlight';

import type { IHunkActions } from './field';
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

  /** The same element over the whole stream, so that nothing jumps. */
  updateDOM(dom: HTMLElement, view: EditorView): boolean {
    const { added, touched } = this._hunk;
    dom.className = 'da-added';
    dom.classList.toggle('da-mod-current', this._isCurrent);
    dom.classList.toggle('da-mod-growing', !this._isComplete);
    const children: HTMLElement[] = [];
    if (this._hunk.insert) {
      children.push(this._lines(added, view));
    }
    if (this._isComplete) {
      children.push(this._controls(touched));
    }
    dom.replaceChildren(...children);
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

  private _lines(added: string, view: EditorView): HTMLElement {
    const changed = added
      .split('\n')
      .map((text, index) =>
        index < this._old.length && this._hunk.from !== this._hunk.to
          ? changedPart(text, this._old[index])
          : ([0, 0] as [number, number])
      );
    return renderLines(added, view, changed);
  }

  private _controls(touched: boolean): HTMLElement {
    const bar = document.createElement('div');
    bar.className = 'da-hunk-controls';
    if (touched) {
      const note = document.createElement('span');
      note.className = 'da-hunk-note';
      note.textContent = 'You have typed in these lines';
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

/** New lines in the editor's own colours; `changed` tells which part of each is new. */
export function renderLines(
  added: string,
  view: EditorView | null,
  changed: readonly [number, number][] = []
): HTMLElement {
  const lines = document.createElement('div');
  lines.className = 'da-added-lines';
  lines.setAttribute('role', 'group');
  lines.setAttribute('aria-label', 'Proposed lines');
  let row = addRow(lines);
  let number = 0;
  let column = 0;
  for (const { text, style } of colour(added, view)) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) {
        row = addRow(lines);
        number++;
        column = 0;
      }
      addPiece(row, part, style, column, changed[number] ?? [0, 0]);
      column += part.length;
    }
  }
  return lines;
}

function addRow(lines: HTMLElement): HTMLElement {
  const row = document.createElement('div');
  row.className = 'da-added-line';
  lines.appendChild(row);
  return row;
}

/** Add text to a row, with the part marked that is new in it. */
function addPiece(
  row: HTMLElement,
  text: string,
  style: string,
  column: number,
  [start, end]: [number, number]
): void {
  const cuts = [0, start - column, end - column, text.length]
    .map(cut => Math.min(Math.max(cut, 0), text.length))
    .sort((one, other) => one - other);
  for (let index = 0; index < cuts.length - 1; index++) {
    const part = text.slice(cuts[index], cuts[index + 1]);
    if (part) {
      const isNew = column + cuts[index] >= start && column + cuts[index] < end;
      const span = document.createElement('span');
      span.className = `${style}${isNew ? ' da-added-text' : ''}`;
      span.textContent = part;
      row.appendChild(span);
    }
  }
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
