import { diffLines } from '../panel/state/diff';

/** A line of a diff in two columns; null where a side has none. Both null: lines left out. */
export interface IRow {
  before: string | null;
  after: string | null;
  isSame: boolean;
}

/** Two texts side by side: what was replaced stands next to what replaced it. */
export function sideBySide(before: string, after: string): IRow[] {
  const rows: IRow[] = [];
  let removed: string[] = [];
  let added: string[] = [];
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
  for (const { kind, text } of diffLines(before, after)) {
    if (kind === 'removed') {
      removed.push(text);
    } else if (kind === 'added') {
      added.push(text);
    } else {
      flush();
      const side = kind === 'gap' ? null : text;
      rows.push({ before: side, after: side, isSame: true });
    }
  }
  flush();
  return rows;
}
