import type { IPending } from './pending';

/** What the agent changed in an open document, and the decision on it. */
export interface IDocumentChanges {
  /** What waits for a decision here. */
  readonly pending: IPending;
  /** Whether there is a change to go to. */
  readonly hasMarks: boolean;
  /** Whether a decision can be made now. */
  readonly canDecide: boolean;
  /** The changes of the newest turn stay. */
  keep(): void;
  /** Take the changes of the newest turn back. */
  undo(): void;
  /** Go to the next change, or with -1 to the one before; after the last to the first. */
  move(by: 1 | -1): unknown;
}
