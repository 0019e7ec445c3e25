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
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) {
    start++;
  }
  if (start > 0 && isHighSurrogate(before.charCodeAt(start - 1))) {
    start--;
  }
  let tail = 0;
  while (
    tail < shorter - start &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  if (tail > 0 && isLowSurrogate(before.charCodeAt(before.length - tail))) {
    tail--;
  }
  return {
    start,
    end: before.length - tail,
    insert: after.slice(start, after.length - tail)
  };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
