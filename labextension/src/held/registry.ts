import {
  IRenderMime,
  IRenderMimeRegistry,
  MimeModel
} from '@jupyterlab/rendermime';

import { isMadeByAgent } from '../notebook/agentMark';
import { ShownDocuments } from '../notebook/shownDocuments';
import { loadPicture } from '../ui/remotePictures';
import { drawHeld } from './heldOutput';

/** What a registry draws. */
interface IDrawn {
  shown: ShownDocuments;
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
    const renderer = create(mimeType);
    new GuardedRenderer(registry, renderer, mimeType, { ...drawn, path });
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
    private readonly _drawn: IDrawn
  ) {
    this._draw = _renderer.renderModel.bind(_renderer);
    _renderer.renderModel = model => this._render(model);
  }

  private _render(model: IRenderMime.IMimeModel): Promise<void> {
    const { cell, shown, path } = this._drawn;
    this._last = model;
    if (!isMadeByAgent(cell ? cell() : model.metadata)) {
      return this._draw(model);
    }
    this._follow();
    const here = path?.();
    if (shown.has(here)) {
      // Of a cell's text nothing is trusted, also where the user wrote it.
      return this._draw(cell ? model : asTrusted(model));
    }
    const show = here ? () => void shown.show(here) : null;
    const { _registry, _renderer, _mimeType, _draw } = this;
    return drawHeld(_registry, _renderer, _mimeType, model, _draw, show);
  }

  private _follow(): void {
    if (this._follows) {
      return;
    }
    this._follows = true;
    const { shown, path } = this._drawn;
    const redraw = (_: unknown, changed: string) => {
      if (changed === path?.() && this._last) {
        this._renderer.node.replaceChildren();
        void this._render(this._last);
      }
    };
    shown.shown.connect(redraw);
    this._renderer.disposed.connect(() => shown.shown.disconnect(redraw));
    this._renderer.node.addEventListener('click', ({ target }) => {
      loadPicture(target);
    });
  }

  private readonly _draw: (model: IRenderMime.IMimeModel) => Promise<void>;
  private _last: IRenderMime.IMimeModel | null = null;
  private _follows = false;
}

function asTrusted(model: IRenderMime.IMimeModel): IRenderMime.IMimeModel {
  const { data, metadata } = model;
  return model.trusted
    ? model
    : new MimeModel({ data, metadata, trusted: true });
}
