import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { IDisposable, DisposableDelegate } from '@lumino/disposable';

/** Keys by which nobody writes or decides: they only move or are held. */
const QUIET =
  /^(Shift|Control|Alt|AltGraph|Meta|CapsLock|Tab|Arrow\w+|Page\w+|Home|End|F\d+)$/;

/**
 * Tell when the person does something by the keyboard in an element: types, pastes, or presses
 * Escape. What they answer a running cell or the assistant, or do to a suggestion, is not meant.
 */
export function whenTheyType(
  element: HTMLElement,
  tell: (event: Event) => void
): IDisposable {
  const onEvent = (event: Event) => {
    const { target } = event;
    if (
      target instanceof Element &&
      target.closest('.jp-Stdin, .da-ghost, .da-inline-question')
    ) {
      return;
    }
    if (!(event instanceof KeyboardEvent) || !QUIET.test(event.key)) {
      tell(event);
    }
  };
  const types = ['keydown', 'paste', 'cut', 'drop'];
  types.forEach(type => element.addEventListener(type, onEvent, true));
  return new DisposableDelegate(() =>
    types.forEach(type => element.removeEventListener(type, onEvent, true))
  );
}

/**
 * Tell when the person goes on in a notebook: types or decides there, goes to another cell, or runs
 * one.
 */
export function whenTheyGoOn(
  panel: NotebookPanel,
  tell: () => void
): IDisposable {
  const { content } = panel;
  const typing = whenTheyType(panel.node, tell);
  const onRun = (_: unknown, { notebook }: { notebook: unknown }) => {
    if (notebook === content) {
      tell();
    }
  };
  content.activeCellChanged.connect(tell);
  NotebookActions.executionScheduled.connect(onRun);
  return new DisposableDelegate(() => {
    typing.dispose();
    content.activeCellChanged.disconnect(tell);
    NotebookActions.executionScheduled.disconnect(onRun);
  });
}
