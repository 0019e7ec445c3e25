import { Range, Text } from '@codemirror/state';
import { Decoration, DecorationSet } from '@codemirror/view';

import { AddedLines } from './addedLines';
import type { IMergeState } from './state';
import { changedPart, IHunk } from './hunks';

/** How a proposal is shown: old lines marked, new ones below them as widgets. */
export function decorationsOf(
  merge: IMergeState | null,
  doc: Text
): DecorationSet {
  if (!merge) {
    return Decoration.none;
  }
  const ranges = merge.hunks.flatMap(hunk => [
    ...removedLines(hunk, doc, hunk.id === merge.current),
    addedLines(hunk, doc, merge)
  ]);
  return Decoration.set(ranges, true);
}

/** Where the lines that a hunk removes begin and end. */
function removedRange({ from, to, atEnd }: IHunk, doc: Text): [number, number] {
  // At the end, the range begins with the line break before its first line.
  const isBehind =
    atEnd && from < to && doc.sliceString(from, from + 1) === '\n';
  return [Math.min(isBehind ? from + 1 : from, doc.length), to];
}

function removedLines(
  hunk: IHunk,
  doc: Text,
  isCurrent: boolean
): Range<Decoration>[] {
  const [from, to] = removedRange(hunk, doc);
  if (hunk.from === hunk.to) {
    return [];
  }
  const first = doc.lineAt(from).number;
  const last = doc.lineAt(hunk.atEnd ? to : Math.max(from, to - 1)).number;
  const added = hunk.added.split('\n');
  const marks: Range<Decoration>[] = [];
  for (let number = first; number <= last; number++) {
    const line = doc.line(number);
    marks.push(
      Decoration.line({
        class: `da-removed-line${isCurrent ? ' da-mod-current' : ''}`
      }).range(line.from)
    );
    const paired = added[number - first];
    const [start, end] = paired
      ? changedPart(line.text, paired)
      : [0, line.length];
    if (end > start) {
      marks.push(
        Decoration.mark({ class: 'da-removed-text' }).range(
          line.from + start,
          line.from + end
        )
      );
    }
  }
  return marks;
}

function addedLines(
  hunk: IHunk,
  doc: Text,
  merge: IMergeState
): Range<Decoration> {
  const [from, to] = removedRange(hunk, doc);
  const hasRemoved = hunk.from !== hunk.to;
  const old = hasRemoved ? doc.sliceString(from, to) : '';
  const isBefore = !hasRemoved && !hunk.atEnd;
  const widget = new AddedLines(
    hunk,
    old.split('\n'),
    merge.isComplete,
    hunk.id === merge.current,
    merge.actions
  );
  const place = hunk.atEnd
    ? to
    : hasRemoved
      ? doc.lineAt(Math.max(from, to - 1)).to
      : from;
  return Decoration.widget({
    widget,
    block: true,
    side: isBefore ? -1 : 1
  }).range(place);
}
