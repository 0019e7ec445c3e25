import { IHunk } from '../../diff/merge';

/** The shared text of a cell or a file. */
interface ISharedText {
  updateSource(start: number, end: number, value?: string): void;
  transact(act: () => void): void;
  undoManager?: { stopCapturing(): void } | null;
}

/** Write hunks into a shared text: one step, of its own, of the text's undo. */
export function writeInto(
  shared: ISharedText,
  hunks: readonly Pick<IHunk, 'from' | 'to' | 'insert'>[]
): void {
  shared.undoManager?.stopCapturing();
  shared.transact(() => {
    [...hunks]
      .sort((one, other) => other.from - one.from)
      .forEach(({ from, to, insert }) => shared.updateSource(from, to, insert));
  });
  shared.undoManager?.stopCapturing();
}
