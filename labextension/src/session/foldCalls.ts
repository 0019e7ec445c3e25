import { Entry, IToolEntry } from './turn';

/**
 * Several calls in a row that are shown as one line: reads, what the gate refused alike, or what a
 * workflow did.
 */
export interface ICallGroup {
  kind: 'reads' | 'refused' | 'work';
  id: string;
  calls: readonly IToolEntry[];
}

/** As many calls as are shown by themselves; more in a row fold. */
export const SHOWN = { reads: 3, refused: 1, work: 1 } as const;

/** The entries of a turn as they are shown; of a workflow all that it did is folded. */
export function foldCalls(
  entries: readonly Entry[],
  isWorkflow = false
): (Entry | ICallGroup)[] {
  const kindOf = (entry: Entry) => foldedAs(entry, isWorkflow);
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
    if (
      run.length &&
      (kindOf(run[0]) !== kind ||
        (entry.needs && run[0].summary !== entry.summary))
    ) {
      flush();
    }
    run.push(entry);
  }
  flush();
  return shown;
}

/** What a call folds with; null for one that is shown by itself. */
function foldedAs(
  entry: Entry,
  isWorkflow: boolean
): ICallGroup['kind'] | null {
  if (entry.kind !== 'tool') {
    return null;
  }
  if (entry.needs) {
    return 'refused';
  }
  if (entry.status !== 'ok') {
    return null;
  }
  return isWorkflow ? 'work' : entry.reads ? 'reads' : null;
}
