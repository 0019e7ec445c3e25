import { IStateDB } from '@jupyterlab/statedb';
import { SplitPanel, Widget } from '@lumino/widgets';

/** Remembered in the workspace: the panel has had its first width. */
const KEY = 'datalayer-agent:was-sized';

/** What the panel likes to have at first, in px. */
const WANTED = 380;

/** How much of the window it takes at most. */
const MOST = 0.4;

/** How long the layout is waited for. */
const MOST_FRAMES = 120;

/** A sidebar that is this much wider than it must be was sized by the user, in px. */
const SLACK = 4;

/**
 * Give the panel room when it is first seen in a workspace; never again, and not where the user
 * has sized the sidebar already.
 */
export async function giveRoomOnce(
  panel: Widget,
  state: IStateDB | null
): Promise<void> {
  if (!state || !panel.isVisible || (await state.fetch(KEY)) === true) {
    return;
  }
  await state.save(KEY, true);
  // The sizes are known once the sidebar that was just opened has been laid out, which on a busy
  // machine takes JupyterLab more than a frame.
  let frames = 0;
  do {
    await new Promise(requestAnimationFrame);
  } while (!panel.node.offsetWidth && ++frames < MOST_FRAMES);
  widen(panel, window.innerWidth);
}

/** Widen the sidebar around a panel, at the cost of the widest area beside it. */
export function widen(panel: Widget, windowWidth: number): void {
  const place = areaOf(panel);
  if (!place || !panel.isVisible) {
    return;
  }
  const { split, area } = place;
  const width = area.node.offsetWidth;
  if (width <= 0 || width > leastWidth(panel, area) + SLACK) {
    return;
  }
  const at = split.widgets.indexOf(area);
  const widest = widestOf(split);
  const other = split.widgets[widest].node.offsetWidth;
  // What it takes from keeps at least as much as it gets.
  const wanted = Math.min(WANTED, windowWidth * MOST, (width + other) / 2);
  if (widest === at || wanted <= width) {
    return;
  }
  const sizes = split.relativeSizes();
  sizes[at] = wanted / split.node.offsetWidth;
  // Areas that are hidden now keep their share for when they are shown again.
  sizes[widest] = 0;
  sizes[widest] = 1 - sizes.reduce((sum, size) => sum + size, 0);
  if (sizes[widest] > 0) {
    split.setRelativeSizes(sizes);
  }
}

/** Where the widest area is. */
function widestOf({ widgets }: SplitPanel): number {
  const widths = widgets.map(({ isVisible, node }) =>
    isVisible ? node.offsetWidth : 0
  );
  return widths.indexOf(Math.max(...widths));
}

/** The width below which a sidebar cannot be dragged. */
function leastWidth(panel: Widget, area: Widget): number {
  return Math.max(
    ...[panel, area].map(
      ({ node }) => parseFloat(getComputedStyle(node).minWidth) || 0
    )
  );
}

/** The horizontal split around a panel, and the part of it that the panel is in. */
function areaOf(panel: Widget): { split: SplitPanel; area: Widget } | null {
  let area = panel;
  while (area.parent) {
    const { parent } = area;
    if (parent instanceof SplitPanel && parent.orientation === 'horizontal') {
      return { split: parent, area };
    }
    area = parent;
  }
  return null;
}
