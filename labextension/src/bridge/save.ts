import { DocumentRegistry } from '@jupyterlab/docregistry';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { PageRequestError } from '../api';
import { within } from './waiting';

/** How long a save may take, in ms; a longer one has opened a dialog that waits. */
const SAVE_MS = 10_000;

/**
 * Saves documents, one save of a document at a time.
 *
 * JupyterLab compares the file with what it knows of it before it writes, so that a save that
 * begins while another one goes on looks like a conflict, and opens a dialog.
 */
export class Saver {
  constructor(tracker: INotebookTracker) {
    tracker.forEach(panel => this._follow(panel));
    tracker.widgetAdded.connect((_, panel) => this._follow(panel));
  }

  /** Save; throws `internal`, saying so, when the document did not reach the disk. */
  save(
    context: DocumentRegistry.IContext<DocumentRegistry.IModel>
  ): Promise<void> {
    const before = this._saves.get(context) ?? Promise.resolve();
    const save = before
      .then(() => this._othersSave(context))
      .then(() => this._save(context));
    this._saves.set(
      context,
      save.catch(() => undefined)
    );
    return save;
  }

  private async _save(
    context: DocumentRegistry.IContext<DocumentRegistry.IModel>
  ): Promise<void> {
    if (context.isDisposed) {
      throw failed('the document was closed');
    }
    if (context.model.readOnly) {
      throw failed('the document is read-only');
    }
    try {
      await within(SAVE_MS, context.save(), () =>
        failed('it did not finish; a dialog may be waiting for the person')
      );
    } catch (error) {
      if (error instanceof PageRequestError) {
        throw error;
      }
      throw failed(error instanceof Error ? error.message : String(error));
    }
  }

  /** The end of a save that JupyterLab or the person began, if one goes on. */
  private async _othersSave(
    context: DocumentRegistry.IContext<DocumentRegistry.IModel>
  ): Promise<void> {
    if (this._running.has(context)) {
      await within(
        SAVE_MS,
        new Promise<void>(resolve => {
          const done = (_: unknown, state: DocumentRegistry.SaveState) => {
            if (state !== 'started') {
              context.saveState.disconnect(done);
              resolve();
            }
          };
          context.saveState.connect(done);
        }),
        () => failed('another save did not finish')
      );
    }
  }

  private _follow(panel: NotebookPanel): void {
    const { context } = panel;
    if (this._known.has(context)) {
      return;
    }
    this._known.add(context);
    context.saveState.connect((_, state) => {
      if (state === 'started') {
        this._running.add(context);
      } else {
        this._running.delete(context);
      }
    });
  }

  private readonly _saves = new WeakMap<object, Promise<void>>();
  private readonly _known = new WeakSet<object>();
  private readonly _running = new WeakSet<object>();
}

function failed(why: string): PageRequestError {
  return new PageRequestError(
    'internal',
    `The change stands in the page, but is not saved: ${why}.`
  );
}
