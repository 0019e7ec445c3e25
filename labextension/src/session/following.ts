import { Observable } from './observable';

/** The part of a notebook that follows the agent: what scrolls, and the cells in it. */
export interface IFollowed {
  /** The element that scrolls. */
  readonly scroller: HTMLElement;
  /** Whether a cell is on the screen. */
  isInView(cellId: string): boolean;
}

/** What a user scrolls with; what a program scrolls makes no such event. */
const MOVES = ['wheel', 'touchmove', 'pointerdown'] as const;

/**
 * Whether the page follows the agent's edits: not where the user switched it off, and not in a
 * notebook that they scrolled since the turn began, until the cell that was followed last is in view
 * again.
 */
export class Following {
  /** Whether the user wants it at all. */
  readonly isOn = new Observable(true);

  /** Listen to what the user scrolls in a notebook. */
  watch(scroller: HTMLElement): void {
    for (const type of MOVES) {
      scroller.addEventListener(
        type,
        event => {
          // A click into a cell is no scrolling; one on the scroll bar is.
          if (type !== 'pointerdown' || event.target === scroller) {
            this._scrolled.set(scroller, Date.now());
          }
        },
        { passive: true }
      );
    }
  }

  /** Whether to bring a cell into view that a turn changed which began at `since`, in ms. */
  may(notebook: IFollowed, cellId: string, since: number): boolean {
    if (!this.isOn.current) {
      return false;
    }
    const { scroller } = notebook;
    const last = this._last.get(scroller);
    const isAway = (this._scrolled.get(scroller) ?? 0) > since;
    if (isAway && !(last !== undefined && notebook.isInView(last))) {
      return false;
    }
    this._scrolled.delete(scroller);
    this._last.set(scroller, cellId);
    return true;
  }

  private readonly _scrolled = new WeakMap<HTMLElement, number>();
  private readonly _last = new WeakMap<HTMLElement, string>();
}
