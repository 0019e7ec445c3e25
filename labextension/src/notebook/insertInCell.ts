import type { Cell } from '@jupyterlab/cells';
import type { PanelLayout, Widget } from '@lumino/widgets';

/** Places in a cell, from the top down. */
export type CellPlace =
  | 'top'
  | 'below-header'
  | 'above-input'
  | 'below-outputs'
  | 'bottom';

/** Put a widget into a cell that is drawn. */
export function insertInCell(
  cell: Cell,
  place: CellPlace,
  widget: Widget
): void {
  const layout = cell.layout as PanelLayout;
  const indexOf = (part: string) =>
    layout.widgets.findIndex(each => each.hasClass(`jp-Cell-${part}`));
  const index = {
    top: () => 0,
    'below-header': () => indexOf('header') + 1,
    'above-input': () => indexOf('inputWrapper'),
    'below-outputs': () => indexOf('outputWrapper') + 1,
    bottom: () => layout.widgets.length
  }[place]();
  layout.insertWidget(index, widget);
}
