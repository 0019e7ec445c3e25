import { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Widget } from '@lumino/widgets';

import { KEY } from '../../notebook/agentMark';
import { insertInCell } from '../../notebook/insertInCell';
import { sessionOf, turnOf } from '../../session/turnLinks';
import { IOrigin, originOf, originLabel } from './about';

/** Leads to a turn in the panel. */
export type OpenTurn = (turnId: string, sessionId?: string) => void;

/** Leads to a session in the panel, and to what waits for the user there. */
export type OpenSession = (sessionId: string) => void;

/** Shows above each cell that comes from a conversation a label that leads back to it. */
export class CellLabels {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _open: OpenTurn,
    private readonly _openSession: OpenSession
  ) {
    const cells = _panel.model?.cells;
    cells?.changed.connect(this._later, this);
    _panel.disposed.connect(() => cells?.changed.disconnect(this._later, this));
    // Citations in an answer that stands in a cell, and what waits of one of `%agent`.
    _panel.content.node.addEventListener('click', this._onClick, true);
    this._label();
  }

  private _later(): void {
    // The cells' widgets are made after their models.
    this._scheduled ??= requestAnimationFrame(() => {
      this._scheduled = undefined;
      this._label();
    });
  }

  private _label(): void {
    if (this._panel.isDisposed) {
      return;
    }
    for (const cell of this._panel.content.widgets) {
      const origin = originOf(cell.model.getMetadata(KEY));
      if (origin && !this._labelled.has(cell)) {
        this._labelled.add(cell);
        void cell.ready.then(() => this._add(cell, origin));
      }
    }
  }

  private _add(cell: Cell, origin: IOrigin): void {
    if (!cell.isDisposed) {
      insertInCell(cell, 'top', new OriginLabel(origin, this._open));
    }
  }

  private readonly _onClick = (event: MouseEvent): void => {
    const link = (event.target as Element).closest?.('a[href]');
    const address = link?.getAttribute('href') ?? null;
    const turnId = turnOf(address);
    const sessionId = sessionOf(address);
    if (turnId || sessionId) {
      event.preventDefault();
      event.stopPropagation();
    }
    if (turnId) {
      this._open(turnId);
    } else if (sessionId) {
      this._openSession(sessionId);
    }
  };

  private readonly _labelled = new WeakSet<Cell>();
  private _scheduled: number | undefined;
}

/** A line above a cell that leads to the turn that it is from. */
class OriginLabel extends Widget {
  constructor(origin: IOrigin, open: OpenTurn) {
    super();
    this.addClass('da-origin');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'da-origin-link';
    button.dataset.testid = 'da-origin';
    button.textContent = originLabel(origin);
    button.title = 'Go to the turn this cell came from';
    button.addEventListener('click', event => {
      event.stopPropagation();
      open(origin.turnId, origin.sessionId);
    });
    this.node.appendChild(button);
  }
}
