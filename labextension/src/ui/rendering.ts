import { Clipboard } from '@jupyterlab/apputils';
import {
  IRenderMime,
  IRenderMimeRegistry,
  MimeModel
} from '@jupyterlab/rendermime';
import { copyIcon } from '@jupyterlab/ui-components';
import { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import {
  IFencedBlock,
  fencedBlocks,
  plainCode,
  withoutTags
} from '../proposals';
import { CodeRow } from './codeRow';
import { scratchpadIcon } from './icons';
import { isSimple, openFence } from './markdownBlocks';

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
    private readonly _uses: IUses = {}
  ) {}

  /** Draw `source`; while it grows, formulas and code wait to be set until it is whole. */
  draw(source: string, isGrowing: boolean): void {
    const fence = isGrowing ? openFence(source) : null;
    if (fence || !isSimple(source)) {
      this._drawAsItIs(fence?.code ?? source);
      return;
    }
    this._next = { source, isGrowing };
    if (!this._isBusy) {
      void this._run();
    }
  }

  dispose(): void {
    this._isDisposed = true;
    this._forgetRows();
    this._renderer?.dispose();
    this._renderer = null;
  }

  /** Code that is still being written, and what would take long: each piece is only added. */
  private _drawAsItIs(code: string): void {
    this._next = null;
    if (!this._pre) {
      if (this._renderer?.isAttached) {
        Widget.detach(this._renderer);
      }
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
      this._forgetRows();
      try {
        await renderer.renderModel(
          new MimeModel({
            data: { [MARKDOWN]: withoutTags(source) },
            trusted: false
          })
        );
      } catch (error) {
        console.error(
          'datalayer-agent: a message could not be rendered',
          error
        );
        renderer.node.textContent = source;
      }
      if (!this._isDisposed) {
        this._show(renderer, source, isGrowing);
      }
    }
    this._isBusy = false;
  }

  private _show(
    renderer: IRenderMime.IRenderer,
    source: string,
    isGrowing: boolean
  ): void {
    if (!isGrowing) {
      this._addRows(renderer.node, source);
      if (this._uses.keep) {
        addKeepToPictures(renderer.node, this._uses.keep);
      }
    }
    if (!isGrowing && !renderer.isAttached && this._host.isConnected) {
      // As a widget of the page it sets its formulas.
      this._host.replaceChildren();
      Widget.attach(renderer, this._host);
      this._pre = null;
    } else if (this._host.firstChild !== renderer.node) {
      this._host.replaceChildren(renderer.node);
      this._pre = null;
    }
  }

  /** A line under each code block, with what can be done with it. */
  private _addRows(node: HTMLElement, source: string): void {
    const fenced = fencedBlocks(source);
    for (const pre of node.querySelectorAll('pre')) {
      const text = (pre.textContent ?? '').replace(/\n$/, '');
      // Code that is only indented, or is in a list, is no fenced block: it is of no target.
      const at = fenced.findIndex(
        ({ source, language }) =>
          source.trimEnd() === plainCode(text, language).trimEnd()
      );
      const [block] = at < 0 ? [plain(pre, text)] : fenced.splice(at, 1);
      const added = this._uses.act?.(block);
      const row = added?.row ?? new CodeRow(async () => null);
      if (added) {
        this._rows.push(added.shown);
      }
      addRow(pre, row, text, this._uses.keep);
    }
  }

  private _forgetRows(): void {
    this._rows.splice(0).forEach(each => each.dispose());
  }

  private _create(): IRenderMime.IRenderer {
    this._renderer = this._registry.createRenderer(MARKDOWN);
    return this._renderer;
  }

  private _renderer: IRenderMime.IRenderer | null = null;
  private _pre: HTMLPreElement | null = null;
  private _next: { source: string; isGrowing: boolean } | null = null;
  private readonly _rows: IDisposable[] = [];
  private _isBusy = false;
  private _isDisposed = false;
}

/** What the user can do with a code block or a picture, beside copying. */
export interface IUses {
  /** Keeps it for the user. */
  keep?: Keep;
  /** Makes the line under a block with what else can be done, for as long as it is shown. */
  act?: (block: IFencedBlock) => { row: CodeRow; shown: IDisposable };
}

/** Takes what the user wants to keep. */
export type Keep = (kept: {
  type: 'code' | 'markdown';
  content: string;
}) => void;

/** Put a line of buttons under a code block. */
function addRow(
  pre: HTMLPreElement,
  row: CodeRow,
  text: string,
  keep?: Keep
): void {
  const frame = document.createElement('div');
  frame.className = 'da-code';
  pre.replaceWith(frame);
  // It scrolls sideways, which must be possible by the keyboard.
  pre.tabIndex = 0;
  row.add(copyIcon, 'Copy', 'Copy code', async () => {
    Clipboard.copyToSystem(pre.textContent ?? '');
    return 'Copied';
  });
  if (keep) {
    const label = 'Send code to scratchpad';
    row.add(scratchpadIcon, 'Send to scratchpad', label, async () => {
      keep(keptCode(languageOf(pre), text));
      return null;
    });
  }
  frame.append(pre, row.node);
}

/** A block that says nothing of itself. */
function plain(pre: HTMLPreElement, source: string): IFencedBlock {
  const language = languageOf(pre);
  return { language, target: null, source, isComplete: true };
}

function languageOf(pre: HTMLPreElement): string {
  const names = pre.querySelector('code')?.className ?? '';
  return /language-(\S+)/.exec(names)?.[1] ?? '';
}

/** A cell of the code in a block: Python runs there, anything else is only shown. */
function keptCode(language: string, text: string): Parameters<Keep>[0] {
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
    const send = pictureButton();
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

function pictureButton(): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'da-copy';
  button.title = 'Send to scratchpad';
  button.setAttribute('aria-label', 'Send picture to scratchpad');
  scratchpadIcon.element({ container: button, width: '14px', height: '14px' });
  return button;
}
