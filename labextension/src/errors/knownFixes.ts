import { FixInfo, FixesReply } from '../api/types';
import { ICellFix, keyOf, cellFixOf } from './cellFix';

/** A fix that is known without a model, and what it does in the notebook as it is now. */
export interface IKnownFix {
  fix: FixInfo;
  cellFix: ICellFix;
}

/** The fixes of a cell's error that are known without a model, and which of them were tried. */
export class KnownFixes {
  constructor(
    private readonly _ask: () => Promise<FixesReply>,
    private readonly _sourceOf: (cellId: string) => string | null
  ) {}

  /** Those that can be carried out and were not yet, the likeliest first. */
  async untried(): Promise<IKnownFix[]> {
    // Nothing is known where nothing can be asked; the model says whether the server is there.
    const { fixes } = await this._ask().catch(() => ({ fixes: [] }));
    return fixes.flatMap(fix => {
      const cellFix = this._tried.has(keyOf(fix))
        ? null
        : cellFixOf(fix, this._sourceOf);
      return cellFix ? [{ fix, cellFix }] : [];
    });
  }

  /** Not to be proposed again. */
  tried({ fix }: IKnownFix): void {
    this._tried.add(keyOf(fix));
  }

  private readonly _tried = new Set<string>();
}
