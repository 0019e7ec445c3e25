import type { YNotebook } from '@jupyter/ydoc';
import type { INotebookModel } from '@jupyterlab/notebook';

/** What JupyterLab writes into a notebook's metadata when its kernel is there. */
const OF_KERNEL = new Set(['kernelspec', 'language_info']);

/** An event of Yjs, as far as it is looked at. */
interface IDeepEvent {
  readonly path: readonly (string | number)[];
  readonly keys: ReadonlyMap<string, unknown>;
}

/**
 * Whether a notebook has changes that are not saved. JupyterLab's own `dirty` is true as well where
 * only the metadata of the kernel was written, as it is soon after many a notebook was loaded.
 *
 * It observes the document, so it is made when that is loaded; it ends with the document.
 */
export class UnsavedChanges {
  constructor(private readonly _model: INotebookModel) {
    const { ydoc } = _model.sharedModel as YNotebook;
    const note = () => void (this._isChanged = true);
    ydoc.getArray('cells').observeDeep(note);
    ydoc.getMap('meta').observeDeep(events => {
      if (!(events as readonly IDeepEvent[]).every(isOfKernel)) {
        note();
      }
    });
    _model.stateChanged.connect((_, { name, newValue }) => {
      if (name === 'dirty' && newValue === false) {
        this._isChanged = false;
      }
    });
    this._isChanged = _model.dirty;
  }

  get exist(): boolean {
    return this._model.dirty && this._isChanged;
  }

  private _isChanged: boolean;
}

function isOfKernel({ path, keys }: IDeepEvent): boolean {
  return (
    path[0] === 'metadata' && [...keys.keys()].every(key => OF_KERNEL.has(key))
  );
}
