import { Dialog } from '@jupyterlab/apputils';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { PromiseDelegate } from '@lumino/coreutils';

import { messageOf } from '../api/errors';
import { PageRequestError } from '../api';
import { forEachNotebook } from './forEachNotebook';
import { within } from './waiting';

/** How long a save may take, in ms. */
const SAVE_MS = 10_000;

const DIALOG = 'JupyterLab asks the user what to do in a dialog';

/**
 * Saves documents, one save of a document at a time.
 *
 * JupyterLab compares the file with what it knows of it before it writes, so that a save that
 * begins while another one goes on looks like a conflict, and opens a dialog.
 */
export class Saver {
  constructor(
    tracker: INotebookTracker,
    private readonly _translator: ITranslator = nullTranslator
  ) {
    forEachNotebook(tracker, ({ context }) => this._follow(context));
  }

  /** Save; throws `internal`, saying so, when the document did not reach the disk. */
  save(
    context: DocumentRegistry.IContext<DocumentRegistry.IModel>
  ): Promise<void> {
    this._follow(context);
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
    // JupyterLab asks what to do about a file that another program has changed.
    const asked = new PromiseDelegate<never>();
    const onDialog = (_: unknown, dialog: Dialog<unknown>) => {
      if (this._isConflict(dialog, context)) {
        asked.reject(failed(DIALOG));
      }
    };
    Dialog.tracker.widgetAdded.connect(onDialog);
    // A save that the user cancels does not say that it ended.
    const save = context.save().finally(() => this._running.delete(context));
    try {
      const late = () => failed('it did not finish');
      await Promise.race([within(SAVE_MS, save, late), asked.promise]);
    } catch (error) {
      if (error instanceof PageRequestError) {
        throw error;
      }
      throw failed(messageOf(error));
    } finally {
      Dialog.tracker.widgetAdded.disconnect(onDialog);
    }
  }

  /**
   * Wait for the end of a save that JupyterLab or the user began, if one goes on. One that waits
   * for the user is not waited for: JupyterLab refuses another, saying so.
   */
  private async _othersSave(
    context: DocumentRegistry.IContext<DocumentRegistry.IModel>
  ): Promise<void> {
    if (
      !this._running.has(context) ||
      Dialog.tracker.find(dialog => this._isConflict(dialog, context))
    ) {
      return;
    }
    const ended = new PromiseDelegate<void>();
    const onState = (_: unknown, state: DocumentRegistry.SaveState) => {
      if (state !== 'started') {
        ended.resolve();
      }
    };
    context.saveState.connect(onState);
    const timer = window.setTimeout(() => ended.resolve(), SAVE_MS);
    await ended.promise;
    window.clearTimeout(timer);
    context.saveState.disconnect(onState);
  }

  /**
   * Whether a dialog asks what to do about a file that has changed under this document. No signal of
   * the document says so: JupyterLab's save waits, and only the dialog's words, in the user's language,
   * tell it from another one that opens meanwhile.
   */
  private _isConflict(
    dialog: Dialog<unknown>,
    { path }: DocumentRegistry.IContext<DocumentRegistry.IModel>
  ): boolean {
    const label = dialog.node.ariaLabel ?? '';
    const title = this._translator.load('jupyterlab').__('File Changed');
    return label.startsWith(`${title} `) && label.includes(path);
  }

  private _follow(
    context: DocumentRegistry.IContext<DocumentRegistry.IModel>
  ): void {
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
    `The change is in the page but not saved: ${why}.`
  );
}
