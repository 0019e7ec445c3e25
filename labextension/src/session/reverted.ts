/** Turns in a row of which all, or none, were reverted. */
export interface ITurnRun {
  ids: readonly string[];
  isWithdrawn: boolean;
}

/** The turns in their order, those in a row that were reverted put together. */
export function foldWithdrawn(
  ids: readonly string[],
  withdrawn: ReadonlySet<string>
): ITurnRun[] {
  const runs: { ids: string[]; isWithdrawn: boolean }[] = [];
  for (const id of ids) {
    const isWithdrawn = withdrawn.has(id);
    const last = runs[runs.length - 1];
    if (last?.isWithdrawn === isWithdrawn) {
      last.ids.push(id);
    } else {
      runs.push({ ids: [id], isWithdrawn });
    }
  }
  return runs;
}
