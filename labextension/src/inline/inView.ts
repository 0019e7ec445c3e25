import { Cell } from '@jupyterlab/cells';
import { DisposableDelegate, IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

/** Keep a box in view over a proposal that is higher than the window, which begins below the box. */
export function holdInView(box: Widget, cell: Cell): IDisposable {
  box.addClass('da-mod-held');
  const { style } = cell.node;
  const observer = new ResizeObserver(() =>
    style.setProperty('--da-inline-height', `${box.node.offsetHeight + 8}px`)
  );
  observer.observe(box.node);
  return new DisposableDelegate(() => {
    observer.disconnect();
    style.removeProperty('--da-inline-height');
  });
}

/** Whether any of an element is on the screen, in what scrolls. */
export function isSeen(element: HTMLElement, frame: HTMLElement): boolean {
  const [inner, outer] = [element, frame].map(each =>
    each.getBoundingClientRect()
  );
  return inner.bottom > outer.top && inner.top < outer.bottom;
}
