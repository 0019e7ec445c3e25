import { Cell } from '@jupyterlab/cells';

/** The cells that the agent runs now; one twice where two runs of it overlap. */
const running: Cell[] = [];

/** Run cells as the agent, in whatever session: what JupyterLab signals of them is not the user's. */
export async function asAgent<T>(
  cells: readonly Cell[],
  run: () => Promise<T>
): Promise<T> {
  running.push(...cells);
  try {
    return await run();
  } finally {
    cells.forEach(cell => running.splice(running.indexOf(cell), 1));
  }
}

/**
 * Whether it is the agent that runs a cell.
 *
 * `NotebookActions.executed` and `executionScheduled` are emitted for runs of both, so that other
 * extensions show times and the like; whoever takes them for an act of the user asks here.
 */
export function isAgentsRun(cell: Cell): boolean {
  return running.includes(cell);
}
