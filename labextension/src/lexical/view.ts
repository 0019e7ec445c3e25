import '../../style/lexical.css';

import { IEditorServices } from '@jupyterlab/codeeditor';
import { DocumentRegistry } from '@jupyterlab/docregistry';
import { Message } from '@lumino/messaging';
import { ISignal, Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { messageOf } from '../api/errors';
import { BlockChanges, ToolCall } from './blockChanges';
import { Editors } from './editors';
import { blocksShown } from './blocksShown';
import { blocksOf, IBlock, INPUT, uuidOf } from './document';
import { button, replaceChildren } from './elements';
import { nextBlock } from './keys';
import { Runs } from './runs';
import { IShowing, ShownBlock } from './shownBlock';

/** How long changes of the text are gathered before they are shown, in ms. */
const SHOW_MS = 50;
/** How many blocks are shown in full at once; others when they come near the visible part. */
const AT_ONCE = 20;
const NEAR = '600px';

/** What the view needs of the page and the server. */
export interface IViewOptions extends IShowing {
  readonly context: DocumentRegistry.Context;
  readonly editors: IEditorServices;
  /** Call a tool of the server on this document. */
  readonly call: ToolCall;
  /** Code has run. */
  readonly onRun: () => Promise<void>;
  /** What scrolls. */
  readonly scroller: HTMLElement;
}

/** The blocks of a Lexical document; those that did not change keep their elements. */
export class LexicalView extends Widget {
  constructor(private readonly _options: IViewOptions) {
    super();
    this.changes = new BlockChanges(_options.call);
    this._runs = new Runs(
      () => this._mark(),
      () => _options.onRun()
    );
    this._editors = new Editors({
      ..._options,
      changes: this.changes,
      run: shown => this._runBlock(shown),
      catchUp: isSaved => this._catchUp(isSaved),
      onClosed: shown => this._onEdited(shown),
      shownAt: index => this.shownAt(index)
    });
    this.addClass('da-lex');
    this.node.dataset.testid = 'da-lexical';
    this._problem.className = 'da-lex-problem';
    this._problem.setAttribute('role', 'alert');
    this._problem.hidden = true;
    this._body.className = 'da-lex-body jp-RenderedHTMLCommon';
    this._body.addEventListener('focusin', this._onFocus);
    this._body.addEventListener('keydown', this._onKey);
    this.node.append(this._problem, this._body, this._adding());
    this._near = new IntersectionObserver(entries => this._fill(entries), {
      root: _options.scroller,
      rootMargin: NEAR
    });
    _options.context.model.contentChanged.connect(this._schedule, this);
    this._show();
  }

  /** Changes of blocks by the user. */
  readonly changes: BlockChanges;

  /** The blocks are shown as they are now. */
  get rendered(): ISignal<this, void> {
    return this._rendered;
  }

  /** What is shown of the block that has this place in the file. */
  shownAt(index: number): ShownBlock | null {
    return this._shown.find(({ block }) => block.index === index) ?? null;
  }

  /** The block of this element, or around it. */
  shownOf(element: Element | null): ShownBlock | null {
    return this._shown.find(shown => shown.element.contains(element)) ?? null;
  }

  /** The blocks in their order. */
  get shown(): readonly ShownBlock[] {
    return this._shown;
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    window.clearTimeout(this._timer);
    this._options.context.model.contentChanged.disconnect(this._schedule, this);
    this._near.disconnect();
    this._runs.dispose();
    this._editors.dispose();
    this._shown.forEach(shown => shown.dispose());
    super.dispose();
  }

  /** Run all code of the document; stops at the first error. */
  async runAll(): Promise<void> {
    await this._runs.add('all', () => this._options.call('runAllBlocks', {}));
  }

  /** Give a block the keyboard, and show it. */
  focusBlock({ element }: ShownBlock): void {
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'nearest' });
  }

  protected onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._shown.forEach(shown => shown.notify(Widget.Msg.AfterAttach));
  }

  protected onBeforeDetach(message: Message): void {
    this._shown.forEach(shown => shown.notify(Widget.Msg.BeforeDetach));
    super.onBeforeDetach(message);
  }

  protected onActivateRequest(): void {
    if (!this.node.contains(document.activeElement)) {
      this._body
        .querySelector<HTMLElement>('.da-lex-block[tabindex="0"]')
        ?.focus({ preventScroll: true });
    }
  }

  private _schedule(): void {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => this._show(), SHOW_MS);
  }

  private _catchUp(isSaved: boolean): void {
    if (this._timer !== undefined) {
      this._show(isSaved);
    }
  }

  private _show(isSaved = false): void {
    window.clearTimeout(this._timer);
    this._timer = undefined;
    if (this.isDisposed) {
      return;
    }
    let blocks: IBlock[];
    try {
      blocks = blocksOf(this._options.context.model.toString());
    } catch (error) {
      this._problem.textContent = `This is not a Lexical document: ${messageOf(error)} Open it with the Editor to see its text.`;
      this._problem.hidden = false;
      this._body.hidden = true;
      return;
    }
    this._problem.hidden = true;
    this._body.hidden = false;
    const before = this._shown;
    const focused = before.findIndex(
      ({ element }) => element === document.activeElement
    );
    const { edited } = this._editors;
    const { shown, become } = blocksShown(
      before,
      blocks,
      edited,
      block => this._create(block),
      isSaved
    );
    this._shown = shown;
    replaceChildren(
      this._body,
      shown.map(({ element }) => element)
    );
    if (edited) {
      this._editors.noteChanged(become?.node ?? null);
    }
    this._watch(before);
    if (focused >= 0 && !shown.includes(before[focused])) {
      // The block with the keyboard has become another one.
      shown[Math.min(focused, shown.length - 1)]?.element.focus({
        preventScroll: true
      });
    }
    this._setActive(this._active);
    this._mark();
    this._rendered.emit();
  }

  /** Show new blocks in full once they come near what is visible. */
  private _watch(before: readonly ShownBlock[]): void {
    const known = new Set(before);
    const fresh = this._shown.filter(each => !known.has(each));
    const isFirst = before.length === 0;
    fresh.forEach((shown, index) => {
      if (isFirst ? index < AT_ONCE : fresh.length <= AT_ONCE) {
        shown.fill();
      } else {
        this._near.observe(shown.element);
      }
    });
  }

  private _fill(entries: readonly IntersectionObserverEntry[]): void {
    const near = new Set(
      entries
        .filter(({ isIntersecting }) => isIntersecting)
        .map(({ target }) => target)
    );
    for (const shown of near.size ? this._shown : []) {
      if (near.has(shown.element)) {
        this._near.unobserve(shown.element);
        shown.fill();
      }
    }
  }

  private _create(block: IBlock): ShownBlock {
    return new ShownBlock(block, this._options, {
      edit: (shown, asSource) => this._editors.open(shown, asSource),
      run: shown => this._runBlock(shown),
      remove: ({ block: removed }) => this.changes.remove(removed)
    });
  }

  private async _runBlock(shown: ShownBlock): Promise<void> {
    const blockId = uuidOf(shown.block);
    if (blockId) {
      await this._runs.add(blockId, () =>
        this._options.call('runBlock', { blockId })
      );
    }
  }

  /** Show what runs. */
  private _mark(): void {
    const { running } = this._runs;
    this.node.classList.toggle('da-mod-running', running !== null);
    for (const { element, block } of this._shown) {
      const isIt =
        block.node.type === INPUT &&
        (running === 'all' || (running !== null && running === uuidOf(block)));
      element.classList.toggle('da-mod-running', isIt);
      if (isIt) {
        element.setAttribute('aria-busy', 'true');
      } else {
        element.removeAttribute('aria-busy');
      }
    }
  }

  private _onEdited(shown: ShownBlock): void {
    // Who went elsewhere while it was saved stays there.
    const hasFocus = shown.element.contains(document.activeElement);
    shown.showContent();
    this._show();
    if (hasFocus && this._shown.includes(shown)) {
      shown.element.focus({ preventScroll: true });
    }
  }

  /** One block is reached by Tab; arrows go to the others. */
  private _setActive(wanted: ShownBlock | null): void {
    const active =
      wanted && this._shown.includes(wanted) ? wanted : this._shown[0];
    if (this._active && this._active !== active) {
      this._active.element.tabIndex = -1;
    }
    this._active = active ?? null;
    if (active) {
      active.element.tabIndex = 0;
    }
  }

  private readonly _onFocus = ({ target }: FocusEvent): void => {
    this._setActive(this.shownOf(target as Element));
  };

  private readonly _onKey = (event: KeyboardEvent): void => {
    const shown = this._active;
    if (!shown || event.target !== shown.element) {
      return;
    }
    const next = nextBlock(event, this._shown, shown);
    if (event.key === 'Enter' && (event.shiftKey || event.ctrlKey)) {
      void this._runBlock(shown);
    } else if (event.key === 'Enter') {
      void this._editors.open(shown);
    } else if (next) {
      this.focusBlock(next);
    } else {
      return;
    }
    event.preventDefault();
  };

  private _adding(): HTMLElement {
    const bar = document.createElement('div');
    bar.className = 'da-lex-adding';
    bar.append(
      button('Add Text', 'Add text at the end', () =>
        this.changes.call('insertBlock', {
          type: 'paragraph',
          content: 'Text'
        })
      ),
      button('Add Code', 'Add code that runs at the end', () =>
        this.changes.call('insertBlock', { type: INPUT, content: '' })
      )
    );
    return bar;
  }

  private readonly _problem = document.createElement('div');
  private readonly _body = document.createElement('div');
  private readonly _runs: Runs;
  private readonly _editors: Editors;
  private readonly _near: IntersectionObserver;
  private readonly _rendered = new Signal<this, void>(this);
  private _shown: ShownBlock[] = [];
  private _active: ShownBlock | null = null;
  private _timer: number | undefined;
}
