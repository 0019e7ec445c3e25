import { SearchHit } from '../api/types';

/** A part of a text that is, or is not, what was looked for. */
export interface IMarkedPart {
  text: string;
  isMarked: boolean;
}

/** A text in pieces; marks that overlap, or lie outside, do no harm. */
export function markedParts(
  text: string,
  marks: NonNullable<SearchHit['marks']>
): IMarkedPart[] {
  const pieces: IMarkedPart[] = [];
  let at = 0;
  const add = (end: number, isMarked: boolean) => {
    if (end > at) {
      pieces.push({ text: text.slice(at, end), isMarked });
      at = end;
    }
  };
  for (const { start, end } of [...marks].sort((a, b) => a.start - b.start)) {
    add(Math.min(start, text.length), false);
    add(Math.min(end, text.length), true);
  }
  add(text.length, false);
  return pieces;
}
