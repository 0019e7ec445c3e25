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
