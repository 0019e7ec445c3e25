import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMime } from '@jupyterlab/rendermime-interfaces';

import { INode, sourceOf } from './document';

/** What rendering needs of JupyterLab. */
export interface IRendering {
  readonly latex: IRenderMime.ILatexTypesetter | null;
  readonly resolver: IRenderMime.IResolver | null;
  readonly languages: IEditorLanguageRegistry | null;
  readonly openLink: (path: string) => void;
}

/** The bits of a text's format, and the elements that they are. */
const FORMATS: readonly (readonly [number, string])[] = [
  [16, 'code'],
  [1, 'strong'],
  [2, 'em'],
  [4, 's'],
  [8, 'u'],
  [32, 'sub'],
  [64, 'sup'],
  [128, 'mark']
];
const ALIGNMENTS = ['left', 'center', 'right', 'justify', 'start', 'end'];
/** What a link or an image may lead to; all else is shown as text. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:|^\/\//i;
const WEB = /^(https?|mailto):/i;
const DATA_IMAGE = /^data:image\/(png|jpeg|gif|webp|bmp)[;,]/i;

/** Whether a link may lead there: to a page, or to a file of the server. */
export function isLinkable(url: string): boolean {
  return WEB.test(url) || !ABSOLUTE.test(url);
}

/** A block as elements. Nothing of the document is read as HTML. */
export function renderBlock(node: INode, rendering: IRendering): HTMLElement {
  return typeset(blockElement(node, rendering), rendering);
}

/** A node in the midst of text. */
export function renderInline(node: INode, rendering: IRendering): Node {
  const element = document.createElement('span');
  element.append(inline(node, rendering));
  if (!element.textContent && !element.querySelector('img')) {
    element.textContent = `[${node.type}]`;
  }
  return typeset(element, rendering);
}

function typeset(element: HTMLElement, { latex }: IRendering): HTMLElement {
  if (element.querySelector('.da-lex-latex')) {
    void latex?.typeset(element);
  }
  return element;
}

function blockElement(node: INode, rendering: IRendering): HTMLElement {
  switch (node.type) {
    case 'paragraph':
      return filled('p', node, rendering);
    case 'heading':
      return filled(headingTag(node.tag), node, rendering);
    case 'quote':
      return filled('blockquote', node, rendering);
    case 'list':
      return list(node, rendering);
    case 'code':
      return code(node, rendering.languages);
    case 'table':
      return table(node, rendering);
    case 'horizontalrule':
      return document.createElement('hr');
    case 'image':
    case 'equation': {
      const paragraph = document.createElement('p');
      paragraph.append(inline(node, rendering));
      return paragraph;
    }
    default:
      return unknown(node);
  }
}

/** Code with the colours of JupyterLab's editors. */
export function code(
  node: INode,
  languages: IEditorLanguageRegistry | null
): HTMLElement {
  const pre = document.createElement('pre');
  const source = sourceOf(node);
  pre.textContent = source;
  const name = typeof node.language === 'string' ? node.language : '';
  const language = languages?.findBest(name === 'py' ? 'python' : name);
  if (languages && language) {
    const shown = document.createElement('pre');
    void languages.highlight(source, language, shown).then(() => {
      pre.replaceChildren(...shown.childNodes);
    });
  }
  return pre;
}

function filled(tag: string, node: INode, rendering: IRendering): HTMLElement {
  const element = document.createElement(tag);
  const format = node.format;
  if (typeof format === 'string' && ALIGNMENTS.includes(format)) {
    element.style.textAlign = format;
  }
  if (typeof node.indent === 'number' && node.indent > 0) {
    element.style.marginInlineStart = `${Math.min(node.indent, 10) * 2}em`;
  }
  for (const child of node.children ?? []) {
    element.append(inline(child, rendering));
  }
  return element;
}

function headingTag(tag: unknown): string {
  return typeof tag === 'string' && /^h[1-6]$/.test(tag) ? tag : 'h2';
}

function inline(node: INode, rendering: IRendering): Node {
  switch (node.type) {
    case 'linebreak':
      return document.createElement('br');
    case 'link':
    case 'autolink':
      return link(node, rendering);
    case 'image':
      return image(node, rendering);
    case 'equation':
      return equation(node);
    default:
      return typeof node.text === 'string'
        ? formatted(node.text, node.format)
        : filled('span', node, rendering);
  }
}

function formatted(text: string, format: unknown): Node {
  let shown: Node = document.createTextNode(text);
  for (const [bit, tag] of FORMATS) {
    if (typeof format === 'number' && format & bit) {
      const element = document.createElement(tag);
      element.append(shown);
      shown = element;
    }
  }
  return shown;
}

function link(node: INode, { openLink, ...rest }: IRendering): Node {
  const url = typeof node.url === 'string' ? node.url : '';
  const anchor = document.createElement('a');
  for (const child of node.children ?? []) {
    anchor.append(inline(child, { openLink, ...rest }));
  }
  if (WEB.test(url)) {
    anchor.href = url;
    anchor.target = '_blank';
    anchor.rel = 'noopener noreferrer';
  } else if (url && !ABSOLUTE.test(url)) {
    anchor.href = '#';
    anchor.addEventListener('click', event => {
      event.preventDefault();
      openLink(url);
    });
  }
  anchor.title = typeof node.title === 'string' ? node.title : url;
  return anchor;
}

function image(node: INode, { resolver }: IRendering): Node {
  const src = typeof node.src === 'string' ? node.src : '';
  const alt = typeof node.altText === 'string' ? node.altText : '';
  const element = document.createElement('img');
  element.alt = alt;
  if (typeof node.width === 'number' && node.width > 0) {
    element.width = node.width;
  }
  if (DATA_IMAGE.test(src)) {
    element.src = src;
  } else if (isRemote(src)) {
    return remoteImage(src, element);
  } else if (!ABSOLUTE.test(src) && src && resolver) {
    void resolver
      .resolveUrl(src)
      .then(path => resolver.getDownloadUrl(path))
      .then(url => {
        element.src = url;
      })
      .catch(() => undefined);
  }
  return element;
}

/**
 * Whether the browser would ask another server for it. The browser's own parser says so: it reads
 * `/\\host/a.png` and addresses with line feeds as those of other hosts, too.
 */
function isRemote(src: string): boolean {
  try {
    const { protocol, origin } = new URL(src, document.baseURI);
    const isWeb = protocol === 'http:' || protocol === 'https:';
    return isWeb && origin !== new URL(document.baseURI).origin;
  } catch {
    return false; // No browser can load it either.
  }
}

/** A request to another server says that the document is read: the user asks for it. */
function remoteImage(src: string, element: HTMLImageElement): Node {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'da-lex-button';
  button.textContent = `Load image${element.alt ? ` “${element.alt}”` : ''} from ${new URL(src, document.baseURI).host}`;
  button.addEventListener('click', () => {
    element.src = src;
    button.replaceWith(element);
  });
  return button;
}

function equation(node: INode): Node {
  const latex = typeof node.equation === 'string' ? node.equation : '';
  const element = document.createElement('span');
  element.className = 'da-lex-latex';
  element.textContent = node.inline ? `$${latex}$` : `$$${latex}$$`;
  return element;
}

function list(node: INode, rendering: IRendering): HTMLElement {
  const isNumbered = node.listType === 'number';
  const element = document.createElement(isNumbered ? 'ol' : 'ul');
  if (element instanceof HTMLOListElement && typeof node.start === 'number') {
    element.start = node.start;
  }
  for (const item of node.children ?? []) {
    const [first] = item.children ?? [];
    if (first?.type === 'list') {
      const place = element.lastElementChild ?? element;
      for (const nested of item.children ?? []) {
        place.append(list(nested, rendering));
      }
      continue;
    }
    const shown = filled('li', { ...item, indent: 0 }, rendering);
    if (node.listType === 'check') {
      const box = document.createElement('input');
      box.type = 'checkbox';
      box.checked = item.checked === true;
      box.disabled = true;
      box.setAttribute('aria-label', item.checked ? 'Done' : 'Not done');
      shown.classList.add('da-lex-check');
      shown.prepend(box);
    }
    element.append(shown);
  }
  return element;
}

function table(node: INode, rendering: IRendering): HTMLElement {
  const element = document.createElement('table');
  for (const row of node.children ?? []) {
    const line = element.insertRow();
    for (const each of row.children ?? []) {
      const isHead = typeof each.headerState === 'number' && each.headerState;
      const cell = document.createElement(isHead ? 'th' : 'td');
      cell.colSpan = spanOf(each.colSpan);
      cell.rowSpan = spanOf(each.rowSpan);
      for (const block of each.children ?? []) {
        cell.append(blockElement(block, rendering));
      }
      line.append(cell);
    }
  }
  return element;
}

function spanOf(span: unknown): number {
  return typeof span === 'number' ? Math.min(Math.max(span, 1), 1000) : 1;
}

function unknown(node: INode): HTMLElement {
  const element = document.createElement('div');
  element.className = 'da-lex-unknown';
  const label = document.createElement('div');
  label.className = 'da-lex-note';
  label.textContent = `A block of type ${node.type}, which this view cannot show`;
  element.append(label);
  const text = sourceOf(node);
  if (text) {
    const shown = document.createElement('p');
    shown.textContent = text;
    element.append(shown);
  }
  return element;
}
