import type * as nbformat from '@jupyterlab/nbformat';

import { isSimpleHtml } from './simpleHtml';

/** The key of ours in the metadata of cells, outputs and notebooks. */
export const KEY = 'datalayer_agent';

/** Types that only show something: they run nothing, and load nothing from elsewhere. */
const INERT = new Set([
  'text/plain',
  'text/latex',
  'application/json',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/bmp'
]);

/**
 * Data that JupyterLab or an installed extension draws, and that runs nothing of its author's: Vega's
 * expressions compute, and all that Vega loads goes through the registry's resolver.
 */
const CHARTS = new Set([
  'application/vnd.plotly.v1+json',
  'application/vnd.vega.v5+json',
  'application/vnd.vegalite.v3+json',
  'application/vnd.vegalite.v4+json',
  'application/vnd.vegalite.v5+json'
]);

/** The place of a widget, whose model comes by messages of its own. */
export const WIDGET_VIEW = 'application/vnd.jupyter.widget-view+json';

/** The id of the widget that an output shows, by its data; null if none. */
export function widgetOf(data: unknown): string | null {
  const view = ((data ?? {}) as Record<string, unknown>)[WIDGET_VIEW];
  const { model_id: id } = (view ?? {}) as { model_id?: unknown };
  return typeof id === 'string' ? id : null;
}

/** Without any of these, Markdown has no picture, no link and no HTML. */
const MAY_LOAD = /[<[\\]|:\/\/|www\./;

/** Whether a page may act, load something, or lead elsewhere, when it shows this data. */
export function isActive(data: unknown): boolean {
  return !Object.entries(data ?? {}).every(([type, value]) =>
    onlyShows(type, value)
  );
}

/** Whether data of a type only shows something. */
export function onlyShows(type: string, value: unknown): boolean {
  const text = () => (Array.isArray(value) ? value.join('') : String(value));
  switch (type) {
    case 'text/html':
      return isSimpleHtml(text());
    case 'text/markdown':
      return !MAY_LOAD.test(text());
    default:
      return INERT.has(type);
  }
}

/**
 * Whether the metadata of an output or a cell says that the agent made it: also what the user kept
 * of an answer in a scratchpad, which has its provenance.
 */
export function isMadeByAgent(metadata: unknown): boolean {
  const about = (metadata as { [KEY]?: unknown } | undefined)?.[KEY] as
    | { madeBy?: unknown; provenance?: unknown }
    | null
    | undefined;
  return about?.madeBy === 'agent' || !!about?.provenance;
}

/** The metadata that also says that the agent made it. */
export function asMadeByAgent<T extends object>(metadata: T | undefined): T {
  const about = (metadata as { [KEY]?: object } | undefined)?.[KEY];
  return { ...metadata, [KEY]: { ...about, madeBy: 'agent' } } as T;
}

/** Whether this type is that of a chart's data. */
export function isChart(type: string): boolean {
  return CHARTS.has(type);
}

/** Whether the page may act by showing this data where it is trusted. */
export function needsTrust(data: unknown): boolean {
  return Object.entries(data ?? {}).some(
    ([type, value]) =>
      !onlyShows(type, value) && !isChart(type) && type !== WIDGET_VIEW
  );
}

/** Whether an output is the agent's, and the page may act by showing it where it is trusted. */
export function isHeldBack(output: nbformat.IOutput): boolean {
  return isMadeByAgent(output.metadata) && needsTrust(output.data);
}

/** The cell, whose source the agent wrote, and which says so where showing it may load something. */
export function asWritten<
  T extends { cell_type: string; source: string; metadata?: object }
>(cell: T): T {
  return cell.cell_type === 'markdown' && MAY_LOAD.test(cell.source)
    ? { ...cell, metadata: asMadeByAgent(cell.metadata) }
    : cell;
}
