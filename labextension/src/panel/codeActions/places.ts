import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Widget } from '@lumino/widgets';

import { Documents } from '../../notebook/documents';
import { ICellPlace, IPlaces } from './actions';

/** The open notebooks as they are now; to be made anew where something has changed. */
export class Places implements IPlaces {
  constructor(
    private readonly _documents: Documents,
    private readonly _tracker: INotebookTracker,
    private readonly _front: Widget | null
  ) {}

  get active(): ICellPlace | null {
    const panel = this._tracker.currentWidget;
    const index = panel?.content.activeCellIndex ?? -1;
    return panel && panel === this._front && index >= 0
      ? this._placeOf(panel, index)
      : null;
  }

  find(cellId: string, notebook?: string): ICellPlace | null {
    const first = notebook ? this._documents.findNotebook(notebook) : undefined;
    const panels = new Set(first ? [first] : []);
    const { currentWidget } = this._tracker;
    if (currentWidget) {
      panels.add(currentWidget);
    }
    this._tracker.forEach(panel => panels.add(panel));
    for (const panel of panels) {
      const index = this._indicesIn(panel).get(cellId);
      if (index !== undefined) {
        return this._placeOf(panel, index);
      }
    }
    return null;
  }

  isOpen(path: string): boolean {
    return this._documents.findNotebook(path) !== undefined;
  }

  private _placeOf(panel: NotebookPanel, index: number): ICellPlace | null {
    const { context, model } = panel;
    const path = this._documents.pathOf(context);
    const cell = model?.sharedModel.cells[index];
    return path !== null && model && cell
      ? {
          path,
          cellId: cell.getId(),
          number: index + 1,
          isReadOnly:
            model.readOnly || context.contentsModel?.writable === false,
          isLocked: cell.getMetadata('editable') === false
        }
      : null;
  }

  /** Many blocks ask for cells of few notebooks. */
  private _indicesIn(panel: NotebookPanel): Map<string, number> {
    let indices = this._indices.get(panel);
    if (!indices) {
      const cells = panel.model?.sharedModel.cells ?? [];
      indices = new Map(cells.map((cell, index) => [cell.getId(), index]));
      this._indices.set(panel, indices);
    }
    return indices;
  }

  private readonly _indices = new Map<NotebookPanel, Map<string, number>>();
}
