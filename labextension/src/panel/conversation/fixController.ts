import { FixesReply } from '../../api/types';
import { IEditor, INotebookError } from '../../notebook/editor';
import { IFixOffer } from '../../session/offers';
import { Observable } from '../../session/observable';

/** How many answers are remembered. */
const MOST = 50;

/** Fixes for a cell with the error that they are for. */
export interface ICellOffer extends IFixOffer {
  error: INotebookError;
}

/** Fixes, without a model, for cells that failed when the user ran them. */
export class FixController {
  constructor(
    private readonly _ask: (
      path: string,
      cellId: string
    ) => Promise<FixesReply>,
    private readonly _editor: Pick<IEditor, 'errorOf'>
  ) {}

  /** For the cells that failed since the page was loaded, the newest first. */
  readonly offers = new Observable<readonly ICellOffer[]>([]);

  /** What could be done about an error; the server is asked once about each. */
  of(path: string, error: INotebookError): Promise<FixesReply> {
    const key = keyOf(path, error);
    let answer = this._answers.get(key);
    if (!answer) {
      answer = this._ask(path, error.cellId);
      this._answers.set(key, answer);
      if (this._answers.size > MOST) {
        this._answers.delete([...this._answers.keys()][0]);
      }
      answer.catch(() => this._answers.delete(key));
    }
    return answer;
  }

  /** The user ran a cell, and it failed. */
  async failed(path: string, cellId: string): Promise<void> {
    const error = this._editor.errorOf(path, cellId);
    if (!error || this._closed.has(keyOf(path, error))) {
      return;
    }
    const { fixes } = await this.of(path, error).catch(() => ({ fixes: [] }));
    const others = this.offers.current.filter(
      offer => offer.path !== path || offer.cellId !== cellId
    );
    if (fixes.length) {
      this.offers.set([{ path, cellId, fixes, error }, ...others]);
    } else if (others.length < this.offers.current.length) {
      this.offers.set(others);
    }
  }

  /** Whether the cell still shows the error that the fixes are for. */
  isCurrent({ path, cellId, error }: ICellOffer): boolean {
    return this._editor.errorOf(path, cellId)?.text === error.text;
  }

  /** The cell ended well. */
  ran(path: string, cellId: string): void {
    const { current } = this.offers;
    const left = current.filter(
      offer => offer.path !== path || offer.cellId !== cellId
    );
    if (left.length < current.length) {
      this.offers.set(left);
    }
  }

  /** The user wants none of them; an error that is another one is offered anew. */
  close(): void {
    for (const { path, error } of this.offers.current) {
      this._closed.add(keyOf(path, error));
    }
    this.offers.set([]);
  }

  private readonly _answers = new Map<string, Promise<FixesReply>>();
  private readonly _closed = new Set<string>();
}

/** One error of one cell: with another code, the same words are another error. */
function keyOf(path: string, { cellId, text }: INotebookError): string {
  return JSON.stringify([path, cellId, text]);
}
