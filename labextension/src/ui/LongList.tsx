import React, {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState
} from 'react';

/** Rows that are drawn beyond those in view, on each side. */
const MARGIN = 6;

/** Properties of a `LongList`; the height of each row is known before it is drawn. */
export interface ILongListProps<T> {
  label: string;
  items: readonly T[];
  /** The height of a row in pixels; the same function each time. */
  heightOf: (item: T) => number;
  /** Begin at the end, where the newest is. */
  startAtEnd?: boolean;
  keyOf: (item: T) => string;
  row: (item: T) => JSX.Element;
}

/** A list of any length, of which only the rows in view are drawn. The arrow keys go through it. */
export function LongList<T>(props: ILongListProps<T>): JSX.Element {
  const { items, heightOf, startAtEnd } = props;
  const tops = useMemo(() => topsOf(items, heightOf), [items, heightOf]);
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
    const [top, bottom] = [tops[to], tops[to + 1]];
    if (top < node.scrollTop) {
      node.scrollTop = top;
    } else if (bottom > node.scrollTop + node.clientHeight) {
      node.scrollTop = bottom - node.clientHeight;
    }
    look();
    setFocused(to);
  };
  const onKey = (event: React.KeyboardEvent) => {
    const at = rowOf(event.target as Element);
    const mean = tops[items.length] / Math.max(1, items.length);
    const page = Math.max(1, Math.floor(view.height / mean) - 1);
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

  const first = Math.max(0, rowAt(tops, view.top) - MARGIN);
  const last = rowAt(tops, view.top + view.height) + MARGIN;
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
        style={{ height: tops[items.length] }}
        className="da-long-list-size"
      />
      {items.slice(first, last + 1).map((item, index) => (
        <li
          key={props.keyOf(item)}
          className="da-long-list-row"
          data-row={first + index}
          aria-posinset={first + index + 1}
          aria-setsize={items.length}
          style={{ top: tops[first + index], height: props.heightOf(item) }}
        >
          {props.row(item)}
        </li>
      ))}
    </ul>
  );
}

/** Where each row begins, and where the last one ends. */
function topsOf<T>(
  items: readonly T[],
  heightOf: (item: T) => number
): number[] {
  const tops = [0];
  for (const item of items) {
    tops.push(tops[tops.length - 1] + heightOf(item));
  }
  return tops;
}

/** The number of the row at a height. */
function rowAt(tops: readonly number[], height: number): number {
  let low = 0;
  let high = tops.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle] <= height) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

/** The number of the row in which an element stands. */
function rowOf(element: Element): number | null {
  const row = element.closest<HTMLElement>('[data-row]')?.dataset.row;
  return row === undefined ? null : Number(row);
}
