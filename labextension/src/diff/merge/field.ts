import {
  EditorState,
  Extension,
  StateEffect,
  StateField,
  Transaction
} from '@codemirror/state';
import { DecorationSet, EditorView } from '@codemirror/view';

import { decorationsOf } from './decorations';
import { hunksOf, IHunk } from './hunks';
import type { IHunkActions, IMergeState } from './state';
import { changesBetween, isThere, rebase } from './rebase';

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

/** As `EditorView.lineWrapping` has it. */
const WRAPPED = { class: 'cm-lineWrapping' };
const NOTHING = {};

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
  provide: field => [
    EditorView.decorations.from(field, value => value.decorations),
    // New lines are wrapped: old ones beside them are not cut off either.
    EditorView.contentAttributes.from(field, ({ merge }) =>
      merge?.hunks.length ? WRAPPED : NOTHING
    )
  ]
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
    const since = merge.since.compose(transaction.changes);
    merge = placed({ ...merge, since }, transaction);
  }
  for (const effect of transaction.effects) {
    if (effect.is(beginMerge)) {
      merge = effect.value && begun(effect.value, transaction);
    } else if (merge && effect.is(growMerge)) {
      merge = grown(merge, effect.value, transaction);
    } else if (merge && effect.is(dropHunks)) {
      const isLeft = ({ id }: IHunk) => !effect.value.includes(id);
      merge = {
        ...merge,
        origin: merge.origin.filter(isLeft),
        hunks: merge.hunks.filter(isLeft)
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
  return {
    base,
    // What was written since the message was sent stays the user's.
    since: changesBetween(base, newDoc.toString()),
    origin: [],
    hunks: [],
    current: -1,
    isComplete: false,
    actions
  };
}

function grown(
  merge: IMergeState,
  { text, isComplete }: { text: string; isComplete: boolean },
  transaction: Transaction
): IMergeState {
  const { base, since } = merge;
  const origin = hunksOf(base, text, isComplete).filter(
    hunk => !isThere(hunk, base, since, transaction.newDoc)
  );
  return placed({ ...merge, origin, isComplete }, transaction);
}

/** The same with its hunks where they are in the text now. */
function placed(merge: IMergeState, { newDoc }: Transaction): IMergeState {
  const { base, origin, since } = merge;
  const hunks = origin.map(hunk => rebase(hunk, base, since, newDoc));
  return { ...merge, hunks };
}
