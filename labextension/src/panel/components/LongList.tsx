import React, { useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Rows that are drawn beyond those in view, on each side. */
const MARGIN = 6;

/** Properties of a `LongList`; every row has the same height, in pixels. */
export interface ILongListProps<T> {
  label: string;
  items: readonly T[];
  rowHeight: number;
  /** Begin at the end, where the newest is. */
  startAtEnd?: boolean;
  keyOf: (item: T) => string;
  row: (item: T) => JSX.Element;
}

/** A list of any length, of which only the rows in view are drawn. The arrow keys go through it. */
export function LongList<T>(props: ILongListProps<T>): JSX.Element {
  const { items, rowHeight, startAtEnd } = props;
  const scroller = useRef<HTMLUListElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  const [focused, setFocused] = useState<number | null>(null);

  const look = () => {
    const node = scroller.current;
    if (node) {
      setView({ top: node.scrollTop, height: node.clientHeight });
    }
  };
  useLayoutEffect(() => {
    const node = scroller.current;
    if (node && startAtEnd) {
      node.scrollTop = node.scrollHeight;
    }
    look();
  }, [items, startAtEnd]);

  useEffect(() => {
    if (focused === null) {
      return;
    }
    scroller.current
      ?.querySelector<HTMLElement>(`[data-row="${focused}"] button`)
      ?.focus({ preventScroll: true });
  }, [focused]);

  const goTo = (row: number) => {
    const node = scroller.current;
    const to = Math.max(0, Math.min(items.length - 1, row));
    if (!node || !items.length) {
      return;
    }
    const top = to * rowHeight;
    if (top < node.scrollTop) {
      node.scrollTop = top;
    } else if (top + rowHeight > node.scrollTop + node.clientHeight) {
      node.scrollTop = top + rowHeight - node.clientHeight;
    }
    look();
    setFocused(to);
  };
  const onKey = (event: React.KeyboardEvent) => {
    const at = rowOf(event.target as Element);
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    const step: Record<string, number | undefined> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -items.length,
      End: items.length
    };
    const by = step[event.key];
    if (at === null || by === undefined || (at === 0 && by === -1)) {
      return; // Up from the first row leads out of the list.
    }
    event.preventDefault();
    event.stopPropagation();
    goTo(at + by);
  };

  const first = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN);
  const count = Math.ceil(view.height / rowHeight) + 2 * MARGIN;
  return (
    <ul
      className="da-long-list"
      aria-label={props.label}
      ref={scroller}
      onScroll={look}
      onKeyDown={onKey}
      onFocus={event => setFocused(rowOf(event.target))}
    >
      <li
        aria-hidden="true"
        style={{ height: items.length * rowHeight }}
        className="da-long-list-size"
      />
      {items.slice(first, first + count).map((item, index) => (
        <li
          key={props.keyOf(item)}
          className="da-long-list-row"
          data-row={first + index}
          aria-posinset={first + index + 1}
          aria-setsize={items.length}
          style={{ top: (first + index) * rowHeight, height: rowHeight }}
        >
          {props.row(item)}
        </li>
      ))}
    </ul>
  );
}

/** The number of the row in which an element stands. */
function rowOf(element: Element): number | null {
  const row = element.closest<HTMLElement>('[data-row]')?.dataset.row;
  return row === undefined ? null : Number(row);
}
