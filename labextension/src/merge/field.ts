import {
  ChangeDesc,
  ChangeSet,
  EditorState,
  Extension,
  StateEffect,
  StateField,
  Transaction
} from '@codemirror/state';
import { DecorationSet, EditorView } from '@codemirror/view';

import { decorationsOf } from './decorations';
import { hunksOf, IHunk } from './hunks';

/** What the person can do with one hunk, by its buttons; and who is told of changes. */
export interface IHunkActions {
  accept(id: number): void;
  reject(id: number): void;
  changed(): void;
}

/** A proposal in an editor: it stands over the text, which is not touched by it. */
export interface IMergeState {
  /** The text that the proposal was made of. */
  readonly base: string;
  /** What happened to the text since. */
  readonly since: ChangeSet;
  /** What of the proposal is neither accepted nor rejected; places are those of the text now. */
  readonly hunks: readonly IHunk[];
  /** The hunk that the keys mean; -1 for none. */
  readonly current: number;
  readonly isComplete: boolean;
  readonly actions: IHunkActions;
}

/** Begin a proposal (`base` is the text that it is of), or end it with null. */
export const beginMerge = StateEffect.define<{
  base: string;
  actions: IHunkActions;
} | null>();

/** The proposal has grown, or is whole. */
export const growMerge = StateEffect.define<{
  text: string;
  isComplete: boolean;
}>();

/** These hunks are decided. */
export const dropHunks = StateEffect.define<readonly number[]>();

/** The keys mean this hunk from now on. */
export const pointAt = StateEffect.define<number>();

interface IFieldValue {
  readonly merge: IMergeState | null;
  readonly decorations: DecorationSet;
}

/** The proposal of an editor, and how it is shown. */
export const mergeField = StateField.define<IFieldValue>({
  create: state => shownIn(null, state),
  update: (value, transaction) => {
    const merge = next(value.merge, transaction);
    return merge === value.merge ? value : shownIn(merge, transaction.state);
  },
  provide: field =>
    EditorView.decorations.from(field, value => value.decorations)
});

/** What an editor needs to show proposals. */
export const mergeExtension: Extension = [
  mergeField,
  EditorView.updateListener.of(({ startState, state }) => {
    const [before, after] = [mergeIn(startState), mergeIn(state)];
    if (before !== after) {
      new Set([before?.actions, after?.actions]).forEach(each =>
        each?.changed()
      );
    }
  })
];

/** The proposal that an editor shows. */
export function mergeIn(state: EditorState): IMergeState | null {
  return state.field(mergeField, false)?.merge ?? null;
}

function shownIn(merge: IMergeState | null, state: EditorState): IFieldValue {
  return { merge, decorations: decorationsOf(merge, state.doc) };
}

function next(
  before: IMergeState | null,
  transaction: Transaction
): IMergeState | null {
  let merge = before;
  if (merge && transaction.docChanged) {
    const { changes } = transaction;
    merge = {
      ...merge,
      since: merge.since.compose(changes),
      hunks: merge.hunks.map(hunk => mapHunk(hunk, changes))
    };
  }
  for (const effect of transaction.effects) {
    if (effect.is(beginMerge)) {
      merge = effect.value && begun(effect.value, transaction);
    } else if (merge && effect.is(growMerge)) {
      merge = grown(merge, effect.value);
    } else if (merge && effect.is(dropHunks)) {
      const ids = effect.value;
      merge = {
        ...merge,
        hunks: merge.hunks.filter(({ id }) => !ids.includes(id))
      };
    } else if (merge && effect.is(pointAt)) {
      merge = { ...merge, current: effect.value };
    }
  }
  return merge;
}

function begun(
  { base, actions }: { base: string; actions: IHunkActions },
  { newDoc }: Transaction
): IMergeState {
  // Where the text is another one by now, all of it may be the person's.
  const now = newDoc.toString();
  const since =
    now === base
      ? ChangeSet.empty(base.length)
      : ChangeSet.of({ from: 0, to: base.length, insert: now }, base.length);
  return { base, since, hunks: [], current: -1, isComplete: false, actions };
}

function grown(
  merge: IMergeState,
  { text, isComplete }: { text: string; isComplete: boolean }
): IMergeState {
  const hunks = hunksOf(merge.base, text, isComplete).map(hunk =>
    mapHunk(hunk, merge.since)
  );
  return { ...merge, hunks, isComplete };
}

/** A hunk after the text was changed, and whether its lines were. */
export function mapHunk(hunk: IHunk, changes: ChangeDesc): IHunk {
  const { from, to, atEnd } = hunk;
  if (from === to) {
    const place = changes.mapPos(from, atEnd ? 1 : -1);
    return { ...hunk, from: place, to: place };
  }
  let touched = hunk.touched;
  changes.iterChangedRanges((fromA, toA) => {
    // What is typed at the end of the line before, or the beginning of the next, is not in it.
    touched ||= atEnd ? toA > from && fromA <= to : toA >= from && fromA < to;
  }, true);
  return {
    ...hunk,
    from: changes.mapPos(from, atEnd ? 1 : -1),
    to: changes.mapPos(to, atEnd ? 1 : -1),
    touched
  };
}
