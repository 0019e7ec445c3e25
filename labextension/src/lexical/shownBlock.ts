import { IOutput } from '@jupyterlab/nbformat';
import { OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Message, MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { IBlock, INPUT, isText, kindOf, sourceOf } from './document';
import { namedButton } from './elements';
import { code, IRendering, renderBlock } from './render';

/** What a block does when the user asks for it. */
export interface IBlockActions {
  readonly edit: (shown: ShownBlock, asSource?: boolean) => unknown;
  readonly run: (shown: ShownBlock) => unknown;
  readonly remove: (shown: ShownBlock) => unknown;
}

/** What showing a block needs. */
export interface IShowing {
  readonly rendermime: IRenderMimeRegistry;
  readonly rendering: IRendering;
}

/** A block in the view. Until it comes near the visible part it is plain text. */
export class ShownBlock {
  constructor(
    private _block: IBlock,
    private readonly _showing: IShowing,
    private readonly _actions: IBlockActions
  ) {
    const { element, content, tools } = this;
    element.className = 'da-lex-block';
    element.dataset.testid = 'da-lexical-block';
    element.tabIndex = -1;
    content.className = 'da-lex-content';
    content.textContent = sourceOf(_block.node);
    tools.className = 'da-lex-tools';
    element.append(tools, content);
    this._describe();
    element.addEventListener('dblclick', event => {
      if (!(event.target as Element).closest(NOT_FOR_EDITING)) {
        void _actions.edit(this);
      }
    });
  }

  readonly element = document.createElement('div');
  readonly content = document.createElement('div');
  readonly tools = document.createElement('div');

  get block(): IBlock {
    return this._block;
  }

  /** Whether an editor stands in place of its content. */
  isEdited = false;

  /** Show all of it, once. */
  fill(): void {
    if (!this._isFilled) {
      this._isFilled = true;
      this._addTools();
      this.showContent();
      this._showOutputs();
    }
  }

  /** It is this now; what is the same stays as it is. */
  update(block: IBlock): void {
    const before = this._block;
    this._block = block;
    if (block.key !== before.key) {
      this._describe();
      if (this._isFilled) {
        this._addTools();
        this.showContent();
      }
    }
    if (this._isFilled && block.outputsKey !== before.outputsKey) {
      this._showOutputs();
    }
  }

  /** Show its content, in place of an editor. */
  showContent(): void {
    if (!this.isEdited) {
      this.content.replaceChildren(this.render(this._block.node));
    }
  }

  /** A version of the block, as elements. */
  render(node: IBlock['node']): HTMLElement {
    const { rendering } = this._showing;
    return node.type === INPUT
      ? code(node, rendering.languages)
      : renderBlock(node, rendering);
  }

  /** Its outputs are widgets, which nobody else notifies. */
  notify(message: Message): void {
    if (this._outputs) {
      MessageLoop.sendMessage(this._outputs, message);
    }
  }

  dispose(): void {
    this._outputs?.dispose();
    this._outputs = null;
  }

  private _describe(): void {
    this.element.dataset.type = kindOf(this._block.node);
  }

  private _addTools(): void {
    const { node } = this._block;
    const kind = kindOf(node);
    this.tools.replaceChildren();
    if (node.type === INPUT) {
      const run = namedButton('Run', 'Run this code (Shift+Enter)', () =>
        this._actions.run(this)
      );
      run.dataset.testid = 'da-lexical-run';
      this.tools.append(run);
    }
    this.tools.append(
      namedButton('Edit', `Edit this ${kind} (Enter)`, () =>
        this._actions.edit(this)
      )
    );
    if (isText(node)) {
      this.tools.append(
        namedButton('Markdown', `Edit the Markdown of this ${kind}`, () =>
          this._actions.edit(this, true)
        )
      );
    }
    this.tools.append(
      namedButton('Delete', `Delete this ${kind}`, () =>
        this._actions.remove(this)
      )
    );
  }

  private _showOutputs(): void {
    this._outputs?.dispose();
    this._outputs = null;
    const { outputs } = this._block;
    if (outputs.length) {
      const { rendermime } = this._showing;
      const values = outputs as IOutput[];
      const model = new OutputAreaModel({ values, trusted: false });
      this._outputs = new SimplifiedOutputArea({ model, rendermime });
      this._outputs.addClass('da-lex-outputs');
      this.element.append(this._outputs.node);
      if (this.element.isConnected) {
        this.notify(Widget.Msg.AfterAttach);
      }
    }
  }

  private _outputs: Widget | null = null;
  private _isFilled = false;
}

const NOT_FOR_EDITING =
  '.da-lex-outputs, .da-lex-editor, .da-lex-contest, button, a, input';
