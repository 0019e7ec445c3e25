import { simpleDiffString } from 'lib0/diff';

/** Replace the text from `start` to `end` (UTF-16 units) with `insert`. */
export interface ISplice {
  start: number;
  end: number;
  insert: string;
}

/**
 * The smallest single replacement that makes `after` of `before`, or null if they are equal.
 *
 * What stays is not touched, so a cursor in it stays where it is. A surrogate pair is never cut:
 * half of one is not a text that a shared document can hold.
 */
export function minimalSplice(before: string, after: string): ISplice | null {
  if (before === after) {
    return null;
  }
  const { index, remove, insert } = simpleDiffString(before, after);
  return { start: index, end: index + remove, insert };
}
