import { compareLines } from '../lines';

/** A run of lines that a proposal changes: what is replaced, in UTF-16 units of the text. */
export interface IHunk {
  /** Its number among the hunks of one proposal. */
  readonly id: number;
  readonly from: number;
  readonly to: number;
  /** What is written from `from` to `to`. */
  readonly insert: string;
  /** The new lines as they are shown: `insert` without the line break at its edge. */
  readonly added: string;
  /** It is the end of the text, so that its line break is before it. */
  readonly atEnd: boolean;
  /** The user has typed in these lines since the proposal was asked for. */
  readonly touched: boolean;
}

/**
 * The hunks that make `proposed` of `base`.
 *
 * While the proposal still grows, the lines of `base` after it are not taken for removed: they may
 * come yet. Nor is the beginning of a line shown that may become the next line of `base`.
 */
export function hunksOf(
  base: string,
  proposed: string,
  isComplete = true
): IHunk[] {
  return isComplete
    ? makeHunks(base, compareLines(base, proposed), false)
    : makeHunks(base, growing(base, proposed), true);
}

type Script = ReturnType<typeof compareLines>;

function growing(base: string, proposed: string): Script {
  const end = proposed.lastIndexOf('\n');
  const last = proposed.slice(end + 1);
  const whole = end < 0 ? '' : proposed.slice(0, end);
  const script = end < 0 ? compareLines(base, '') : compareLines(base, whole);
  const mayStay =
    last === '' ||
    trailing(script).some(
      ({ kind, text }) => kind === 'removed' && text.startsWith(last)
    );
  return mayStay ? script : [...script, { kind: 'added', text: last }];
}

/** What follows the last line that is the same. */
function trailing(script: Script): Script {
  return script.slice(lastSame(script) + 1);
}

function lastSame(script: Script): number {
  let index = script.length - 1;
  while (index >= 0 && script[index].kind !== 'same') {
    index--;
  }
  return index;
}

function makeHunks(base: string, script: Script, isGrowing: boolean): IHunk[] {
  const starts = lineStarts(base);
  const tail = isGrowing ? lastSame(script) + 1 : script.length;
  const hunks: IHunk[] = [];
  let line = 0;
  let index = 0;
  while (index < script.length) {
    if (script[index].kind === 'same') {
      line++;
      index++;
      continue;
    }
    const first = line;
    let next = line;
    const added: string[] = [];
    const keeps = index >= tail;
    for (; index < script.length && script[index].kind !== 'same'; index++) {
      if (script[index].kind === 'added') {
        added.push(script[index].text);
      } else {
        next++;
      }
    }
    line = next;
    if (added.length || !keeps) {
      const end = keeps ? first : next;
      hunks.push(hunkOf(base, starts, first, end, added, hunks.length));
    }
  }
  return hunks;
}

/** Lines `first` to `next` (not included) of `base` become `added`. */
function hunkOf(
  base: string,
  starts: readonly number[],
  first: number,
  next: number,
  added: readonly string[],
  id: number
): IHunk {
  const shown = added.join('\n');
  const hunk = { id, added: shown, touched: false };
  if (next < starts.length && base !== '') {
    const insert = added.length ? `${shown}\n` : '';
    return {
      ...hunk,
      from: starts[first],
      to: starts[next],
      insert,
      atEnd: false
    };
  }
  if (first === 0) {
    return { ...hunk, from: 0, to: base.length, insert: shown, atEnd: true };
  }
  // The last line has no line break behind it: the one before goes or comes with it.
  const from = first < starts.length ? starts[first] - 1 : base.length;
  const insert = added.length ? `\n${shown}` : '';
  return { ...hunk, from, to: base.length, insert, atEnd: true };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

/** The text after these hunks are applied to it; they do not overlap. */
export function applyHunks(text: string, hunks: readonly IHunk[]): string {
  return [...hunks]
    .sort((one, other) => other.from - one.from)
    .reduce(
      (result, { from, to, insert }) =>
        result.slice(0, from) + insert + result.slice(to),
      text
    );
}

/** From where to where a line differs from the one that takes its place. */
export function changedPart(line: string, other: string): [number, number] {
  const shorter = Math.min(line.length, other.length);
  let start = 0;
  while (start < shorter && line[start] === other[start]) {
    start++;
  }
  let tail = 0;
  while (
    tail < shorter - start &&
    line[line.length - 1 - tail] === other[other.length - 1 - tail]
  ) {
    tail++;
  }
  return [start, line.length - tail];
}
