import { Cell } from '@jupyterlab/cells';
import { Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { IDisposable, DisposableDelegate } from '@lumino/disposable';

import { isAgentsRun } from './kernel/agentRuns';

/** Keys by which nobody writes or decides: they only move or are held. */
const QUIET =
  /^(Shift|Control|Alt|AltGraph|Meta|CapsLock|Tab|Arrow\w+|Page\w+|Home|End|F\d+)$/;

/**
 * Notify when the user does something by the keyboard in an element: types, pastes, or presses
 * Escape. What they answer a running cell or the assistant, or do to a suggestion, is not meant.
 */
export function onUserTyping(
  element: HTMLElement,
  notify: (event: Event) => void
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
      notify(event);
    }
  };
  const types = ['keydown', 'paste', 'cut', 'drop'];
  types.forEach(type => element.addEventListener(type, onEvent, true));
  return new DisposableDelegate(() =>
    types.forEach(type => element.removeEventListener(type, onEvent, true))
  );
}

/**
 * Notify when the user goes on in a notebook: types or decides there, goes to another cell, or runs
 * one.
 */
export function onUserActivity(
  panel: NotebookPanel,
  notify: () => void
): IDisposable {
  const { content } = panel;
  const typing = onUserTyping(panel.node, notify);
  const onRun = (_: unknown, run: { notebook: Notebook; cell: Cell }) => {
    if (run.notebook === content && !isAgentsRun(run.cell)) {
      notify();
    }
  };
  content.activeCellChanged.connect(notify);
  NotebookActions.executionScheduled.connect(onRun);
  return new DisposableDelegate(() => {
    typing.dispose();
    content.activeCellChanged.disconnect(notify);
    NotebookActions.executionScheduled.disconnect(onRun);
  });
}
