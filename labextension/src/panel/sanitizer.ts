import { IRenderMime } from '@jupyterlab/rendermime';

/** Elements that could load something, run something or catch what a person types. */
const FORBIDDEN = [
  'audio',
  'base',
  'button',
  'embed',
  'form',
  'iframe',
  'link',
  'meta',
  'object',
  'script',
  'select',
  'source',
  'style',
  'textarea',
  'track',
  'video',
  'input:not([type="checkbox"])'
].join(',');

/**
 * JupyterLab's sanitizer, and then what text by a model needs beyond it: nothing is loaded from
 * anywhere, and links open in a tab that knows nothing of this one.
 */
export class PanelSanitizer implements IRenderMime.ISanitizer {
  constructor(private readonly _inner: IRenderMime.ISanitizer) {}

  readonly allowNamedProperties = false;
  readonly allowCommandLinker = false;

  /** Whether addresses in text become links, as JupyterLab is set. */
  getAutolink(): boolean {
    return this._inner.getAutolink?.() ?? true;
  }

  sanitize(dirty: string, options?: IRenderMime.ISanitizerOptions): string {
    return neutralise(this._inner.sanitize(dirty, options));
  }
}

/** The same HTML without anything that loads from an address. */
export function neutralise(html: string): string {
  // A document without a window: nothing in it is fetched or run.
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  body.querySelectorAll(FORBIDDEN).forEach(node => node.remove());
  body.querySelectorAll('*').forEach(cleanAttributes);
  body.querySelectorAll('img, image').forEach(replaceImage);
  body.querySelectorAll('a').forEach(hardenLink);
  return body.innerHTML;
}

function cleanAttributes(node: Element): void {
  for (const { name, value } of [...node.attributes]) {
    const loads =
      name === 'srcset' ||
      name === 'background' ||
      name === 'poster' ||
      name === 'ping' ||
      (name === 'style' && /url\s*\(|image\s*\(|@import|\\/i.test(value));
    const acts = name.startsWith('data-commandlinker') || name.startsWith('on');
    if (loads || acts) {
      node.removeAttribute(name);
    }
  }
}

function replaceImage(image: Element): void {
  const address =
    image.getAttribute('src') ??
    image.getAttribute('href') ??
    image.getAttribute('xlink:href') ??
    '';
  if (/^data:image\//i.test(address.trim())) {
    return;
  }
  const note = image.ownerDocument.createElement('span');
  note.className = 'da-image-note';
  const alt = image.getAttribute('alt');
  note.textContent = `[Image not loaded${alt ? ` (${alt})` : ''}: ${address}]`;
  image.replaceWith(note);
}

function hardenLink(link: HTMLAnchorElement): void {
  const address = link.getAttribute('href');
  if (!address) {
    return;
  }
  if (!/^(https?:|mailto:|#)/i.test(address.trim())) {
    // A path: it would lead out of JupyterLab, and may be anything. Shown, not followed.
    link.removeAttribute('href');
    link.title = address;
    return;
  }
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
}
