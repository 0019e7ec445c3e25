import { isRead } from './tools';
import { Entry, IToolEntry } from './turn';

/** Several reads in a row that are shown as one line. */
export interface IReadGroup {
  kind: 'reads';
  id: string;
  calls: readonly IToolEntry[];
}

/** As many reads as stand by themselves; more in a row fold. */
export const READS_SHOWN = 3;

/** The entries of a turn as they are shown: runs of more than three finished reads are folded. */
export function foldReads(entries: readonly Entry[]): (Entry | IReadGroup)[] {
  const shown: (Entry | IReadGroup)[] = [];
  let run: IToolEntry[] = [];
  const flush = () => {
    if (run.length > READS_SHOWN) {
      shown.push({ kind: 'reads', id: `reads-${run[0].id}`, calls: run });
    } else {
      shown.push(...run);
    }
    run = [];
  };
  for (const entry of entries) {
    if (entry.kind === 'tool' && entry.status === 'ok' && isRead(entry.name)) {
      run.push(entry);
      continue;
    }
    flush();
    shown.push(entry);
  }
  flush();
  return shown;
}
