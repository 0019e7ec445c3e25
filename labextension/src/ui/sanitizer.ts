import { IRenderMime } from '@jupyterlab/rendermime';

import { relativePath } from './links';
import { hostOf, remotePicture } from './remotePictures';
import { answerOf, turnOf } from '../session/turnLinks';

/** Elements that could load something, run something or catch what a user types. */
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

/** Where text by a model stands. */
export interface IPlace {
  /**
   * Whether JupyterLab resolves relative addresses there, as it does in documents: pictures and links
   * to own files are left to it.
   */
  resolvesPaths?: boolean;
}

/**
 * JupyterLab's sanitizer, and then what text by a model needs beyond it: nothing is loaded from
 * elsewhere before the user asks for it, and links say where they lead and open in a tab that knows
 * nothing of this one.
 */
export class PanelSanitizer implements IRenderMime.ISanitizer {
  constructor(
    private readonly _inner: IRenderMime.ISanitizer,
    private readonly _place: IPlace = {}
  ) {}

  readonly allowNamedProperties = false;
  readonly allowCommandLinker = false;

  /** Whether addresses in text become links, as JupyterLab is set. */
  getAutolink(): boolean {
    return this._inner.getAutolink?.() ?? true;
  }

  sanitize(dirty: string, options?: IRenderMime.ISanitizerOptions): string {
    return neutralise(this._inner.sanitize(dirty, options), this._place);
  }
}

/** The same HTML without anything that loads from elsewhere. */
export function neutralise(html: string, place: IPlace = {}): string {
  // A document without a window: nothing in it is fetched or run.
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  body.querySelectorAll(FORBIDDEN).forEach(node => node.remove());
  body.querySelectorAll('*').forEach(cleanAttributes);
  body
    .querySelectorAll('img, image')
    .forEach(image => replaceImage(image, place));
  body.querySelectorAll('a').forEach(link => hardenLink(link, place));
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
    const acts =
      name.startsWith('data-commandlinker') ||
      name.startsWith('data-da-') ||
      name.startsWith('on');
    if (loads || acts) {
      node.removeAttribute(name);
    }
  }
}

function replaceImage(image: Element, { resolvesPaths }: IPlace): void {
  const address = (
    image.getAttribute('src') ??
    image.getAttribute('href') ??
    image.getAttribute('xlink:href') ??
    ''
  ).trim();
  const isOwn =
    resolvesPaths &&
    (/^attachment:/i.test(address) || relativePath(address) !== null);
  if (/^data:image\//i.test(address) || isOwn) {
    return;
  }
  if (!address) {
    image.remove();
    return;
  }
  const alt = image.getAttribute('alt') ?? '';
  image.replaceWith(
    remotePicture(image.ownerDocument, address, alt) ??
      noPicture(image.ownerDocument, address, alt)
  );
}

function noPicture(owner: Document, address: string, alt: string): Element {
  const note = owner.createElement('span');
  note.className = 'da-image-note';
  note.textContent = `[Image not loaded${alt ? ` (${alt})` : ''}: ${address}]`;
  return note;
}

/** A link leads to a document here, to another tab, or nowhere; then it says where it would. */
function hardenLink(link: HTMLAnchorElement, { resolvesPaths }: IPlace): void {
  const address = link.getAttribute('href')?.trim() ?? '';
  if (/^(https?:|mailto:)/i.test(address)) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
    sayHost(link, address);
    return;
  }
  if (resolvesPaths) {
    return;
  }
  link.removeAttribute('href');
  link.removeAttribute('target');
  const path = relativePath(address);
  const turnId = turnOf(address);
  const answerId = answerOf(address);
  if (turnId) {
    link.dataset.daTurn = turnId;
    link.className = 'da-document-link';
    link.setAttribute('role', 'link');
    link.tabIndex = 0;
    link.title = 'Go to this turn';
  } else if (answerId) {
    link.dataset.daAnswer = answerId;
    link.className = 'da-document-link';
    link.setAttribute('role', 'link');
    link.tabIndex = 0;
    link.title = 'Go to this answer';
  } else if (path) {
    link.dataset.daPath = path;
    link.className = 'da-document-link';
    link.setAttribute('role', 'link');
    link.tabIndex = 0;
    link.title = `Open ${path}`;
  } else if (!address.startsWith('#') && link.textContent?.trim()) {
    explain(link, address);
  }
}

/** The host is in the text, or after it: a link's address may carry what was read here. */
function sayHost(link: HTMLAnchorElement, address: string): void {
  const host = hostOf(address);
  if (host) {
    link.title = address;
    if (!link.textContent?.toLowerCase().includes(host)) {
      const note = link.ownerDocument.createElement('span');
      note.className = 'da-link-note';
      note.textContent = ` (${host})`;
      link.append(note);
    }
  }
}

/** It would lead out of JupyterLab's folder, or may run something. Shown, not followed. */
function explain(link: HTMLAnchorElement, address: string): void {
  link.className = 'da-dead-link';
  link.title = address
    ? `Not followed: ${address}`
    : 'Link disabled: it points to no page and no file here';
  const note = link.ownerDocument.createElement('span');
  note.className = 'da-link-note';
  note.textContent = address
    ? ` (not followed: ${address})`
    : ' (not followed)';
  link.after(note);
}
