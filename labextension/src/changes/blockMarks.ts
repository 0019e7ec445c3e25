import { IDisposable } from '@lumino/disposable';

import type { ShownBlock } from '../lexical/shownBlock';
import { makeMark } from './marks';
import type { ChangeOp } from './source';

/** How a block was changed, and what the user had asked for. */
export interface IBlockMark {
  readonly op: ChangeOp;
  readonly message: string;
}

/** A bar at the edge of each block that the agent changed. */
export class BlockMarks implements IDisposable {
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this.show([], new Map());
  }

  /** Mark these blocks, by their places in the file, and no others. */
  show(
    shown: readonly ShownBlock[],
    changed: ReadonlyMap<number, IBlockMark>
  ): void {
    const before = new Map(this._marks);
    this._marks.clear();
    for (const each of shown) {
      const mark = changed.get(each.block.index);
      if (mark) {
        const node = makeMark(mark.op, mark.message);
        before.get(each)?.remove();
        before.delete(each);
        each.element.append(node);
        this._marks.set(each, node);
      }
    }
    before.forEach(node => node.remove());
  }

  has(shown: ShownBlock): boolean {
    return this._marks.has(shown);
  }

  get count(): number {
    return this._marks.size;
  }

  private readonly _marks = new Map<ShownBlock, HTMLElement>();
  private _isDisposed = false;
}
