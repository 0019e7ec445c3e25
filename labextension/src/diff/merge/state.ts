import type { ChangeSet } from '@codemirror/state';

import type { IHunk } from './hunks';

/** What the user can do with one hunk, by its buttons; and who is notified of changes. */
export interface IHunkActions {
  accept(id: number): void;
  reject(id: number): void;
  changed(): void;
}

/** A proposal in an editor: it is shown over the text, which is not touched by it. */
export interface IMergeState {
  /** The text that the proposal was made of. */
  readonly base: string;
  /** What happened to the text since. */
  readonly since: ChangeSet;
  /** What of the proposal is neither accepted nor rejected; places are those of `base`. */
  readonly origin: readonly IHunk[];
  /** The same in the text as it is now. */
  readonly hunks: readonly IHunk[];
  /** The hunk that the keys mean; -1 for none. */
  readonly current: number;
  readonly isComplete: boolean;
  readonly actions: IHunkActions;
}
