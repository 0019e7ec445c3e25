import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

/**
 * Call `follow` with each notebook of the page: those that are open, and each that is opened later,
 * until `Signal.clearData(owner)`.
 *
 * The tracker, and not `docRegistry.addWidgetExtension`: that serves neither notebooks that were
 * opened before, which matters to all that is loaded late, nor those of other widget factories.
 */
export function forEachNotebook(
  tracker: Pick<INotebookTracker, 'forEach' | 'widgetAdded'>,
  follow: (panel: NotebookPanel) => void,
  owner?: object
): void {
  tracker.forEach(follow);
  tracker.widgetAdded.connect((_, panel) => follow(panel), owner);
}

/** The same, with each once its document is loaded; never with one that is closed before. */
export function forEachLoadedNotebook(
  tracker: INotebookTracker,
  follow: (panel: NotebookPanel) => void
): void {
  forEachNotebook(tracker, panel => {
    void panel.context.ready.then(
      () => panel.isDisposed || follow(panel),
      () => undefined
    );
  });
}
