import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { forEachLoadedNotebook } from '../notebook/forEachNotebook';
import { INotebookChangesOptions, NotebookChanges } from './notebookChanges';

type Shared = Omit<INotebookChangesOptions, 'panel' | 'path'>;

/** The agent's changes in all notebooks that are open. */
export class ChangesOnPage {
  constructor(
    tracker: INotebookTracker,
    private readonly _pathOf: (panel: NotebookPanel) => string | null,
    private readonly _shared: Shared
  ) {
    forEachLoadedNotebook(tracker, panel => this._add(panel));
  }

  of(panel: NotebookPanel | null): NotebookChanges | null {
    return (panel && this._notebooks.get(panel)) ?? null;
  }

  private _add(panel: NotebookPanel): void {
    if (panel.content.model) {
      const changes = new NotebookChanges({
        ...this._shared,
        panel,
        path: () => this._pathOf(panel)
      });
      this._notebooks.set(panel, changes);
    }
  }

  private readonly _notebooks = new WeakMap<NotebookPanel, NotebookChanges>();
}
