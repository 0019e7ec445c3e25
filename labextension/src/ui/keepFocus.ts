import { RefObject, useEffect, useRef } from 'react';

/**
 * Keep the keyboard within an element whose buttons come and go: where the one that has it is gone,
 * `back` is called, which puts it elsewhere. Otherwise the page's body has it, and no key works.
 */
export function useKeptFocus(
  root: RefObject<HTMLElement>,
  back: () => void
): void {
  const latest = useRef(back);
  latest.current = back;
  useEffect(() => {
    const element = root.current;
    if (!element) {
      return;
    }
    const { activeElement } = document;
    // It may have been given before this is called.
    let last: EventTarget | null = element.contains(activeElement)
      ? activeElement
      : null;
    const onFocus = ({ target }: FocusEvent) => {
      last = target;
    };
    const onPointer = ({ target }: PointerEvent) => {
      if (!(target instanceof Node && element.contains(target))) {
        // Who clicks elsewhere wants to be there, unless the click leaves the keyboard where it is.
        setTimeout(() => {
          if (document.activeElement !== last) {
            last = null;
          }
        });
      }
    };
    const observer = new MutationObserver(() => {
      if (last instanceof Node && !last.isConnected) {
        last = null;
        if (document.activeElement === document.body) {
          latest.current();
        }
      }
    });
    element.addEventListener('focusin', onFocus);
    document.addEventListener('pointerdown', onPointer, true);
    observer.observe(element, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('focusin', onFocus);
      document.removeEventListener('pointerdown', onPointer, true);
    };
  }, [root]);
}
