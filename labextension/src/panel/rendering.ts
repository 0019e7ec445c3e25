import {
  IRenderMime,
  IRenderMimeRegistry,
  MimeModel
} from '@jupyterlab/rendermime';
import { LabIcon, checkIcon, copyIcon } from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { scratchpadIcon } from './icons';
import { openFence } from './state/markdown';

const MARKDOWN = 'text/markdown';

/**
 * Draws one block of Markdown into an element, again and again while it grows.
 *
 * At most one rendering is under way; of the texts that come meanwhile only the last is drawn. What
 * was drawn stays until the next is ready, so that nothing blinks.
 */
export class BlockRenderer {
  constructor(
    private readonly _registry: IRenderMimeRegistry,
    private readonly _host: HTMLElement,
    /** Keeps a block of code or a picture for the person. */
    private readonly _keep?: Keep
  ) {}

  /** Draw `source`; while it grows, formulas and code wait to be set until it is whole. */
  draw(source: string, isGrowing: boolean): void {
    const fence = isGrowing ? openFence(source) : null;
    if (fence) {
      this._drawOpenFence(fence.code);
      return;
    }
    this._next = { source, isGrowing };
    if (!this._isBusy) {
      void this._run();
    }
  }

  dispose(): void {
    this._isDisposed = true;
    this._renderer?.dispose();
    this._renderer = null;
  }

  /** Code that is still being written is plain text: each piece is only added. */
  private _drawOpenFence(code: string): void {
    this._next = null;
    if (!this._pre) {
      const pre = document.createElement('pre');
      pre.appendChild(document.createTextNode(''));
      const frame = document.createElement('div');
      frame.className = 'jp-RenderedHTMLCommon jp-RenderedMarkdown';
      frame.appendChild(pre);
      this._host.replaceChildren(frame);
      this._pre = pre;
    }
    const text = this._pre.firstChild as Text;
    if (code.startsWith(text.data)) {
      text.appendData(code.slice(text.data.length));
    } else {
      text.data = code;
    }
  }

  private async _run(): Promise<void> {
    this._isBusy = true;
    while (this._next && !this._isDisposed) {
      const { source, isGrowing } = this._next;
      this._next = null;
      const renderer = this._renderer ?? this._create();
      try {
        await renderer.renderModel(
          new MimeModel({ data: { [MARKDOWN]: source }, trusted: false })
        );
      } catch (error) {
        console.error(
          'datalayer-agent: a message could not be rendered',
          error
        );
        renderer.node.textContent = source;
      }
      if (!this._isDisposed) {
        this._show(renderer, isGrowing);
      }
    }
    this._isBusy = false;
  }

  private _show(renderer: IRenderMime.IRenderer, isGrowing: boolean): void {
    if (!isGrowing) {
      // The node is placed by hand, so the widget must be told: it sets the formulas then.
      MessageLoop.sendMessage(renderer, Widget.Msg.AfterAttach);
      renderer.node
        .querySelectorAll('pre')
        .forEach(pre => addButtons(pre, this._keep));
      if (this._keep) {
        addKeepToPictures(renderer.node, this._keep);
      }
    }
    if (this._host.firstChild !== renderer.node) {
      this._host.replaceChildren(renderer.node);
      this._pre = null;
    }
  }

  private _create(): IRenderMime.IRenderer {
    this._renderer = this._registry.createRenderer(MARKDOWN);
    return this._renderer;
  }

  private _renderer: IRenderMime.IRenderer | null = null;
  private _pre: HTMLPreElement | null = null;
  private _next: { source: string; isGrowing: boolean } | null = null;
  private _isBusy = false;
  private _isDisposed = false;
}

/** Takes what the person wants to keep. */
export type Keep = (kept: {
  type: 'code' | 'markdown';
  content: string;
}) => void;

/** Put buttons over a code block: one that copies it, and one that keeps it. */
function addButtons(pre: HTMLPreElement, keep?: Keep): void {
  const frame = document.createElement('div');
  frame.className = 'da-code';
  pre.replaceWith(frame);
  const button = overlayButton(copyIcon, 'Copy', 'Copy code');
  button.addEventListener('click', () => {
    void copyText(pre.textContent ?? '').then(() => {
      checkIcon.element({ container: button, width: '14px', height: '14px' });
      button.setAttribute('aria-label', 'Copied');
      setTimeout(() => {
        copyIcon.element({ container: button, width: '14px', height: '14px' });
        button.setAttribute('aria-label', 'Copy code');
      }, 1500);
    });
  });
  const buttons = document.createElement('div');
  buttons.className = 'da-over';
  if (keep) {
    const send = keepButton('code');
    send.addEventListener('click', () => keep(keptCode(pre)));
    buttons.append(send);
  }
  buttons.append(button);
  frame.append(pre, buttons);
}

/** A cell of the code in a block: Python runs there, anything else is only shown. */
function keptCode(pre: HTMLPreElement): Parameters<Keep>[0] {
  const text = (pre.textContent ?? '').replace(/\n$/, '');
  const names = pre.querySelector('code')?.className ?? '';
  const language = /language-(\S+)/.exec(names)?.[1] ?? '';
  return ['', 'python', 'py', 'ipython', 'python3'].includes(language)
    ? { type: 'code', content: text }
    : {
        type: 'markdown',
        content: `\`\`\`\`${language}\n${text}\n\`\`\`\``
      };
}

/** Put a button over each picture that keeps it. */
function addKeepToPictures(node: HTMLElement, keep: Keep): void {
  node.querySelectorAll('img').forEach(image => {
    if (!image.src.startsWith('data:image/')) {
      return;
    }
    const frame = document.createElement('span');
    frame.className = 'da-code da-picture';
    image.replaceWith(frame);
    const buttons = document.createElement('span');
    buttons.className = 'da-over';
    const send = keepButton('picture');
    send.addEventListener('click', () =>
      keep({
        type: 'markdown',
        content: `![${image.alt.replace(/[[\]]/g, '')}](${image.src})`
      })
    );
    buttons.append(send);
    frame.append(image, buttons);
  });
}

function keepButton(what: string): HTMLButtonElement {
  return overlayButton(
    scratchpadIcon,
    'Send to scratchpad',
    `Send ${what} to scratchpad`
  );
}

function overlayButton(
  icon: LabIcon,
  title: string,
  label: string
): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'da-copy';
  button.title = title;
  button.setAttribute('aria-label', label);
  icon.element({ container: button, width: '14px', height: '14px' });
  return button;
}

/** Copy text; by a hidden field where the page has no clipboard (plain HTTP). */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text);
  }
  const field = document.createElement('textarea');
  field.value = text;
  document.body.appendChild(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
