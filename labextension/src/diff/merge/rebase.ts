import { ChangeDesc, ChangeSet, Text } from '@codemirror/state';

import { hunksOf, IHunk } from './hunks';

/**
 * A hunk of `base` in the text as it is after `changes`.
 *
 * It takes the place of its own lines only: lines that somebody wrote above or below them stay, as
 * in a merge of three texts. It is touched where its own lines are no longer what they were.
 */
export function rebase(
  hunk: IHunk,
  base: string,
  changes: ChangeDesc,
  doc: Text
): IHunk {
  const { from, to, atEnd } = hunk;
  if (from === to && base !== '') {
    const place = changes.mapPos(from, atEnd ? 1 : -1);
    return { ...hunk, from: place, to: place };
  }
  // Its lines without the line break before the first, or behind the last.
  const isBehind = atEnd && from > 0;
  const start = isBehind ? from + 1 : from;
  const end = atEnd ? to : to - 1;
  const [first, last] = ownLines(start, end, changes, doc);
  const isWhole =
    doc.lineAt(first).from === first && doc.lineAt(last).to === last;
  const isSame = doc.sliceString(first, last) === base.slice(start, end);
  return {
    ...hunk,
    from: isBehind && isBreak(doc, first - 1) ? first - 1 : first,
    to: !atEnd && isBreak(doc, last) ? last + 1 : last,
    touched: !isWhole || !isSame
  };
}

/** Whether the text has become what a hunk of `base` makes of it. */
export function isThere(
  hunk: IHunk,
  base: string,
  changes: ChangeDesc,
  doc: Text
): boolean {
  const { from, to, insert } = hunk;
  if (from === to) {
    const [start, end] = [changes.mapPos(from, -1), changes.mapPos(from, 1)];
    return doc.sliceString(start, end) === insert;
  }
  const now = rebase(hunk, base, changes, doc);
  return now.touched && doc.sliceString(now.from, now.to) === insert;
}

/** What makes `now` of `base`, by whole lines. */
export function changesBetween(base: string, now: string): ChangeSet {
  return ChangeSet.of(
    hunksOf(base, now).map(({ from, to, insert }) => ({ from, to, insert })),
    base.length
  );
}

/** Where the lines from `start` to `end` are now, without whole lines that were put at their edges. */
function ownLines(
  start: number,
  end: number,
  changes: ChangeDesc,
  doc: Text
): [number, number] {
  const [before, after] = [changes.mapPos(start, -1), changes.mapPos(end, 1)];
  const first = Math.max(before, doc.lineAt(changes.mapPos(start, 1)).from);
  const last = Math.min(after, doc.lineAt(changes.mapPos(end, -1)).to);
  if (first <= last) {
    return [first, last];
  }
  // An empty line, in whose place there are several now: whole ones are above or below it.
  if (isBreak(doc, before)) {
    return [before, before];
  }
  return isBreak(doc, after - 1) ? [after, after] : [before, after];
}

function isBreak(doc: Text, at: number): boolean {
  return at >= 0 && at < doc.length && doc.sliceString(at, at + 1) === '\n';
}
