import { isRead } from './tools';
import { Entry, IToolEntry } from './turn';

/** Several calls in a row that are shown as one line: reads, or what the gate refused alike. */
export interface ICallGroup {
  kind: 'reads' | 'refused';
  id: string;
  calls: readonly IToolEntry[];
}

/** As many calls as stand by themselves; more in a row fold. */
export const SHOWN = { reads: 3, refused: 1 } as const;

/** The entries of a turn as they are shown. */
export function foldCalls(entries: readonly Entry[]): (Entry | ICallGroup)[] {
  const shown: (Entry | ICallGroup)[] = [];
  let run: IToolEntry[] = [];
  const flush = () => {
    const kind = run.length ? kindOf(run[0]) : null;
    if (kind && run.length > SHOWN[kind]) {
      shown.push({ kind, id: `${kind}-${run[0].id}`, calls: run });
    } else {
      shown.push(...run);
    }
    run = [];
  };
  for (const entry of entries) {
    const kind = kindOf(entry);
    if (entry.kind !== 'tool' || !kind) {
      flush();
      shown.push(entry);
      continue;
    }
    if (run.length && !isAlike(run[0], entry)) {
      flush();
    }
    run.push(entry);
  }
  flush();
  return shown;
}

/** What a call folds with; null for one that stands by itself. */
function kindOf(entry: Entry): ICallGroup['kind'] | null {
  if (entry.kind !== 'tool') {
    return null;
  }
  if (entry.needs) {
    return 'refused';
  }
  return entry.status === 'ok' && isRead(entry.name) ? 'reads' : null;
}

function isAlike(one: IToolEntry, other: IToolEntry): boolean {
  return (
    kindOf(one) === kindOf(other) &&
    (!one.needs || one.summary === other.summary)
  );
}
