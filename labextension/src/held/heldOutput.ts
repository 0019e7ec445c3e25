import {
  IRenderMime,
  IRenderMimeRegistry,
  MimeModel,
  RenderedHTMLCommon
} from '@jupyterlab/rendermime';
import type { JSONObject } from '@lumino/coreutils';

import { isChart, onlyShows, WIDGET_VIEW } from '../notebook/agentMark';
import { drawableChart } from './harmless';
import { hostOf } from '../ui/remotePictures';
import { PanelSanitizer } from '../ui/sanitizer';

/** A text in the place of a chart says little more than a class and an address when it is longer. */
const LONGEST_TEXT = 200;

const SVG = 'image/svg+xml';
const HTML = 'text/html';
const PNG = 'image/png';
const PICTURES = [PNG, 'image/jpeg', 'image/gif', 'image/webp'];

/** What runs or catches input, in HTML. */
const ACTING =
  'script, iframe, frame, object, embed, form, button, select, textarea, input:not([type="checkbox"]), svg, canvas, audio, video, base, meta, link, style:not([scoped])';

/** What loads something as it is shown. */
const LOADING = '[src], [srcset], [poster], [background], [href], [data]';

/** What is held back of some HTML, in words; null if nothing is. */
export function heldInHtml(html: string): string | null {
  // A document without a window: nothing in it is fetched or run.
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  const hosts = new Set<string>();
  for (const node of parsed.querySelectorAll(LOADING)) {
    if (node.localName !== 'a') {
      for (const { value } of node.attributes) {
        value.split(/[\s,]+/).forEach(part => {
          const host = hostOf(part);
          if (host) {
            hosts.add(host);
          }
        });
      }
    }
  }
  const acts =
    parsed.querySelector(ACTING) !== null ||
    [...parsed.querySelectorAll('*')].some(({ attributes }) =>
      [...attributes].some(
        ({ name, value }) =>
          name.startsWith('on') || (name === 'style' && /url|\\/i.test(value))
      )
    );
  const held = [
    ...(acts ? ['parts that would act in this page'] : []),
    ...(hosts.size ? [`content from ${[...hosts].join(', ')}`] : [])
  ];
  return held.length ? held.join(' and ') : null;
}

/** JupyterLab's sanitizer with ours, which remembers what it took away. */
class HeldSanitizer extends PanelSanitizer {
  held: string | null = null;

  sanitize(dirty: string, options?: IRenderMime.ISanitizerOptions): string {
    this.held = heldInHtml(dirty);
    return super.sanitize(dirty, options);
  }
}

/** Something of the agent's, and how it is drawn. */
interface IHeldOutput {
  registry: IRenderMimeRegistry;
  renderer: IRenderMime.IRenderer;
  mimeType: string;
  model: IRenderMime.IMimeModel;
  /** The renderer's own drawing. */
  draw: (model: IRenderMime.IMimeModel) => Promise<void>;
  /** Whether a widget is held back. */
  waits: (widget: string) => boolean;
}

/** Draw what the agent made, as far as it is harmless; what is held back, in words, or null. */
export async function drawHeld({
  registry,
  renderer,
  mimeType,
  model: given,
  draw,
  waits
}: IHeldOutput): Promise<string | null> {
  const { data, metadata } = given;
  const drawn = asDrawn(mimeType, data[mimeType], waits);
  if (drawn) {
    await draw(asModel(mimeType, drawn, given));
    return null;
  }
  const model = new MimeModel({ data, metadata, trusted: false });
  const isMarkup = [HTML, 'text/markdown'].includes(mimeType);
  return isMarkup && renderer instanceof RenderedHTMLCommon
    ? drawMarkup(registry, renderer, model, draw)
    : drawInstead(registry, renderer, model);
}

/** The data of a chart or the place of a widget, which act by nothing of their author's; or null. */
function asDrawn(
  mimeType: string,
  value: unknown,
  waits: (widget: string) => boolean
): JSONObject | null {
  if (isChart(mimeType)) {
    return drawableChart(value);
  }
  const { model_id: widget } = (value ?? {}) as { model_id?: unknown };
  return mimeType === WIDGET_VIEW &&
    typeof widget === 'string' &&
    !waits(widget)
    ? (value as JSONObject)
    : null;
}

/** What is drawn of an output, which gets the picture that some renderers make of it. */
function asModel(
  mimeType: string,
  drawn: JSONObject,
  given: IRenderMime.IMimeModel
): MimeModel {
  const picture = given.data[PNG];
  return new MimeModel({
    data: { [mimeType]: drawn, ...(picture ? { [PNG]: picture } : {}) },
    callback: ({ data }) => {
      const made = data?.[PNG];
      if (made) {
        given.setData({ data: { ...given.data, [PNG]: made } });
      }
    }
  });
}

async function drawMarkup(
  registry: IRenderMimeRegistry,
  renderer: RenderedHTMLCommon,
  model: MimeModel,
  draw: (model: IRenderMime.IMimeModel) => Promise<void>
): Promise<string | null> {
  const sanitizer = new HeldSanitizer(registry.sanitizer, {
    resolvesPaths: true
  });
  const own = renderer.sanitizer;
  Object.assign(renderer, { sanitizer });
  // The renderer takes its sanitizer as it begins to draw.
  const drawn = draw(model);
  Object.assign(renderer, { sanitizer: own });
  await drawn;
  return sanitizer.held;
}

/** A picture of the same, or a text: what there is beside what is held back. */
async function drawInstead(
  registry: IRenderMimeRegistry,
  renderer: IRenderMime.IRenderer,
  { data, metadata }: MimeModel
): Promise<string | null> {
  const held = Object.keys(data).filter(
    type =>
      type !== SVG &&
      !onlyShows(type, data[type]) &&
      // A widget waits also where nothing draws its kind yet.
      (type === WIDGET_VIEW || registry.mimeTypes.includes(type))
  );
  renderer.node.replaceChildren();
  const svg = data[SVG];
  const text = data['text/plain'];
  if (typeof svg === 'string') {
    renderer.node.append(asPicture(svg));
  } else if (saysSomething(data[HTML])) {
    // Its own renderer holds back what is in it.
    await append(registry, renderer, HTML, { data, metadata });
    return null;
  } else {
    const isShort = typeof text === 'string' && text.length <= LONGEST_TEXT;
    const type =
      PICTURES.find(each => each in data) ?? (isShort ? 'text/plain' : null);
    if (type) {
      const only = { [type]: data[type] };
      const more = { [type]: metadata[type] };
      await append(registry, renderer, type, { data: only, metadata: more });
    }
  }
  return held.length ? `an interactive view (${held.join(', ')})` : null;
}

async function append(
  registry: IRenderMimeRegistry,
  to: IRenderMime.IRenderer,
  mimeType: string,
  model: MimeModel.IOptions
): Promise<void> {
  const renderer = registry.createRenderer(mimeType);
  to.disposed.connect(() => renderer.dispose());
  await renderer.renderModel(new MimeModel(model));
  to.node.append(renderer.node);
}

/** As a picture, an SVG runs no script and loads nothing. */
function asPicture(svg: string): HTMLImageElement {
  const image = document.createElement('img');
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  image.alt = '';
  return image;
}

/** Whether HTML has a text without what would run. */
function saysSomething(html: unknown): boolean {
  if (typeof html !== 'string') {
    return false;
  }
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  body.querySelectorAll('script, style').forEach(node => node.remove());
  return !!body.textContent?.trim();
}
