import { compareLines, IDiffLine, withGaps } from './lines';

/** A line of a text, with its number from 0. */
export interface ILine {
  text: string;
  number: number;
}

/** A line of a diff in two columns; null where a side has none. Both null: lines left out. */
export interface IRow {
  before: ILine | null;
  after: ILine | null;
  isSame: boolean;
}

/** A line of a diff, and where it is in the texts that have it. */
interface INumbered extends IDiffLine {
  before: number;
  after: number;
}

/** Two texts side by side: what was replaced is next to what replaced it. */
export function sideBySide(before: string, after: string): IRow[] {
  const rows: IRow[] = [];
  let removed: ILine[] = [];
  let added: ILine[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++) {
      rows.push({
        before: removed[i] ?? null,
        after: added[i] ?? null,
        isSame: false
      });
    }
    removed = [];
    added = [];
  };
  for (const line of withGaps(numbered(compareLines(before, after)))) {
    const { text } = line;
    if (!('before' in line)) {
      flush();
      rows.push({ before: null, after: null, isSame: true });
    } else if (line.kind === 'removed') {
      removed.push({ text, number: line.before });
    } else if (line.kind === 'added') {
      added.push({ text, number: line.after });
    } else {
      flush();
      rows.push({
        before: { text, number: line.before },
        after: { text, number: line.after },
        isSame: true
      });
    }
  }
  flush();
  return rows;
}

function numbered(lines: readonly IDiffLine[]): INumbered[] {
  let before = 0;
  let after = 0;
  return lines.map(line => ({
    ...line,
    before: line.kind === 'added' ? before : before++,
    after: line.kind === 'removed' ? after : after++
  }));
}
