import { URLExt } from '@jupyterlab/coreutils';
import {
  IRenderMime,
  IRenderMimeRegistry,
  MimeModel
} from '@jupyterlab/rendermime';
import { MessageHook, MessageLoop } from '@lumino/messaging';
import { ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { isChart, isMadeByAgent, widgetOf } from '../notebook/agentMark';
import { ShownDocuments } from '../notebook/shownDocuments';
import { loadPicture } from '../ui/remotePictures';
import { drawHeld } from './heldOutput';
import { heldNotice } from './notice';

const ELSEWHERE = 'content of another server';

/** What a registry draws. */
interface IDrawn {
  shown: ShownDocuments;
  /** Whether a widget of the agent's is held back. */
  waits: (widget: string) => boolean;
  /** It became known that a widget is held back. */
  held: ISignal<unknown, string>;
  /** The metadata of the cell whose text is drawn; outputs bring their own. */
  cell?: () => unknown;
  /** The document's path. */
  path?: () => string | undefined;
}

/**
 * Have a registry, and all clones of it, hold back what the agent made, until the user has it shown.
 * What the user made is drawn as ever, by the same renderers.
 *
 * Every output and every Markdown cell of JupyterLab is drawn by a clone of the application's
 * registry, whichever extension adds the renderer: so this is the one place.
 */
export function holdBack<T extends IRenderMimeRegistry>(
  registry: T,
  drawn: IDrawn
): T {
  const create = registry.createRenderer.bind(registry);
  const clone = registry.clone.bind(registry);
  const path = () =>
    (registry.resolver as { path?: string } | null)?.path ?? drawn.path?.();
  registry.createRenderer = mimeType => {
    const gate = isChart(mimeType) ? new LocalOnly(registry.resolver) : null;
    const { resolver } = registry;
    // A renderer takes its resolver as it is made.
    Object.assign(registry, { resolver: gate ?? resolver });
    const renderer = create(mimeType);
    Object.assign(registry, { resolver });
    const more = { ...drawn, path };
    new GuardedRenderer(registry, renderer, mimeType, more, gate);
    return renderer;
  };
  registry.clone = options => holdBack(clone(options), { ...drawn, path });
  return registry;
}

/** A renderer that draws what the agent made only as far as that cannot act. */
class GuardedRenderer {
  constructor(
    private readonly _registry: IRenderMimeRegistry,
    private readonly _renderer: IRenderMime.IRenderer,
    private readonly _mimeType: string,
    private readonly _drawn: IDrawn,
    private readonly _gate: LocalOnly | null
  ) {
    this._draw = _renderer.renderModel.bind(_renderer);
    _renderer.renderModel = model => this._render(model);
  }

  private async _render(model: IRenderMime.IMimeModel): Promise<void> {
    const { cell, shown, path, waits } = this._drawn;
    this._last = model;
    const here = path?.();
    const isAgents = isMadeByAgent(cell ? cell() : model.metadata);
    const isHeld = isAgents && !shown.has(here);
    this._holds = false;
    if (this._gate) {
      this._gate.isClosed = isHeld;
    }
    if (!isAgents) {
      return this._draw(model);
    }
    this._follow();
    if (!isHeld) {
      if (cell) {
        // Of a cell's text nothing is trusted, also where the user wrote it.
        return this._draw(model);
      }
      // JupyterLab draws the outputs of a notebook that it opens before they are in the page, where
      // scripts look for the elements in which they draw.
      await attached(this._renderer);
      return this._last === model ? this._draw(asTrusted(model)) : undefined;
    }
    const show = here ? () => void shown.show(here) : null;
    this._holds = true;
    const held = await drawHeld({
      registry: this._registry,
      renderer: this._renderer,
      mimeType: this._mimeType,
      model,
      draw: this._draw,
      waits
    });
    const all = held ?? (this._gate?.hasRefused ? ELSEWHERE : null);
    this._holds = all !== null;
    if (all !== null && !shown.has(here)) {
      const { node } = this._renderer;
      node.querySelector(':scope > .da-held')?.remove();
      node.append(heldNotice(all, show));
    }
  }

  private _follow(): void {
    if (this._follows) {
      return;
    }
    this._follows = true;
    const { held: widgetHeld, shown, path } = this._drawn;
    const redraw = async (_: unknown, changed: string) => {
      // A cell that is trusted now draws its outputs anew. Once more would take away what their
      // scripts have drawn.
      await Promise.resolve();
      const waits = this._holds && !this._renderer.isDisposed;
      if (waits && changed === path?.() && this._last) {
        this._renderer.node.replaceChildren();
        void this._render(this._last);
      }
    };
    const hold = (_: unknown, widget: string) => {
      if (this._last && widgetOf(this._last.data) === widget) {
        void this._render(this._last);
      }
    };
    shown.shown.connect(redraw);
    widgetHeld.connect(hold);
    this._renderer.disposed.connect(() => {
      shown.shown.disconnect(redraw);
      widgetHeld.disconnect(hold);
    });
    this._renderer.node.addEventListener('click', ({ target }) => {
      loadPicture(target);
    });
  }

  private readonly _draw: (model: IRenderMime.IMimeModel) => Promise<void>;
  private _last: IRenderMime.IMimeModel | null = null;
  /** Whether something is held back of what is drawn, or may be. */
  private _holds = false;
  private _follows = false;
}

/** A resolver of a chart that loads from this server alone while it is closed. */
class LocalOnly implements IRenderMime.IResolver {
  constructor(private readonly _own: IRenderMime.IResolver | null) {}

  isClosed = false;

  /** Whether something of another server was not loaded. */
  hasRefused = false;

  /** Raises for an address of another server, which whoever asks would load next. */
  isLocal(url: string): boolean {
    const isLocal = this._own?.isLocal?.(url) ?? URLExt.isLocal(url);
    if (this.isClosed && !isLocal && !/^data:/i.test(url)) {
      this.hasRefused = true;
      throw new Error(`Held back: ${ELSEWHERE}.`);
    }
    return isLocal && this._own !== null;
  }

  resolveUrl(url: string): Promise<string> {
    return this._own!.resolveUrl(url);
  }

  getDownloadUrl(path: string): Promise<string> {
    return this._own!.getDownloadUrl(path);
  }
}

/** Fulfilled when a widget is in the page. */
function attached(widget: Widget): Promise<void> {
  if (widget.isAttached) {
    return Promise.resolve();
  }
  return new Promise(resolve => {
    const hook: MessageHook = (_, { type }) => {
      if (type === 'after-attach') {
        MessageLoop.removeMessageHook(widget, hook);
        resolve();
      }
      return true;
    };
    MessageLoop.installMessageHook(widget, hook);
  });
}

function asTrusted(model: IRenderMime.IMimeModel): IRenderMime.IMimeModel {
  const { data, metadata } = model;
  return model.trusted
    ? model
    : new MimeModel({ data, metadata, trusted: true });
}
