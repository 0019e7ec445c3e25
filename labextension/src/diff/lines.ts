const LINE_END = /\r\n?|\n/;

/** The text as an editor has it: with a line feed at the end of each line. */
export function lineFeeds(text: string): string {
  return hasOtherLineEnds(text) ? text.replace(/\r\n?/g, '\n') : text;
}

/** Whether lines end otherwise than in a line feed. */
export function hasOtherLineEnds(text: string): boolean {
  return text.includes('\r');
}

/** A line of a diff. */
export interface IDiffLine {
  kind: 'same' | 'removed' | 'added' | 'gap';
  text: string;
}

/** Lines of context around what changed. */
const CONTEXT = 2;

/** Above this many comparisons the changed middle is shown whole, old then new. */
const MAX_COMPARISONS = 2_000_000;

/** The diff of two sources by lines, with long equal parts left out. */
export function diffLines(before: string, after: string): IDiffLine[] {
  return withGaps(compareLines(before, after));
}

/**
 * Every line of two sources, in order: what stays, what goes and what comes. Lines that differ in
 * their ends alone are the same.
 */
export function compareLines(before: string, after: string): IDiffLine[] {
  const a = before === '' ? [] : before.split(LINE_END);
  const b = after === '' ? [] : after.split(LINE_END);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    start++;
  }
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  ) {
    end++;
  }
  const same = (text: string): IDiffLine => ({ kind: 'same', text });
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same)
  ];
}

/** Lines removed and added between two lists that differ, by their longest common subsequence. */
function middle(a: string[], b: string[]): IDiffLine[] {
  if (a.length * b.length > MAX_COMPARISONS) {
    return [
      ...a.map((text): IDiffLine => ({ kind: 'removed', text })),
      ...b.map((text): IDiffLine => ({ kind: 'added', text }))
    ];
  }
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const lines: IDiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i++] });
      j++;
    } else if (
      i < a.length &&
      (j === b.length ||
        lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])
    ) {
      lines.push({ kind: 'removed', text: a[i++] });
    } else {
      lines.push({ kind: 'added', text: b[j++] });
    }
  }
  return lines;
}

/** Leave out long parts that are the same. */
export function withGaps<L extends IDiffLine>(
  lines: readonly L[]
): (L | IDiffLine)[] {
  const keep = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (line.kind !== 'same') {
      keep.fill(1, Math.max(0, i - CONTEXT), i + CONTEXT + 1);
    }
  });
  const shown: (L | IDiffLine)[] = [];
  lines.forEach((line, i) => {
    if (keep[i]) {
      shown.push(line);
    } else if (shown[shown.length - 1]?.kind !== 'gap') {
      shown.push({ kind: 'gap', text: '' });
    }
  });
  return shown;
}
