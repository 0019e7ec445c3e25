import { ToolResult } from '../../api/types';
import { IPanelClient } from '../../api/services';
import { IStale } from '../../session/stale';

/** What the result of a run says, as far as it is needed here. */
interface IRunOutput {
  runs?: { status: string; error?: { ename?: string; evalue?: string } }[];
  staleCells?: string[];
}

/**
 * Run stale cells and those that follow from them, in order, as the user's own act. What is stale
 * then, and why a cell failed, if one did.
 */
export async function runStale(
  client: Pick<IPanelClient, 'callTool'>,
  { path, cellIds }: IStale,
  who: { clientId: string; sessionId?: string }
): Promise<{ left: IStale | null; problem?: string }> {
  const result = await client.callTool('runNotebookCells', {
    path,
    arguments: { cellIds: [...cellIds], includeDependents: true },
    mode: 'agent',
    ...who
  });
  const output = outputOf(result);
  const left = output.staleCells ?? (result.ok ? [] : [...cellIds]);
  return {
    left: left.length ? { path, cellIds: left } : null,
    problem: problemIn(result, output)
  };
}

function outputOf({ output }: ToolResult): IRunOutput {
  return typeof output === 'object' && output !== null
    ? (output as IRunOutput)
    : {};
}

function problemIn(
  { ok, error }: ToolResult,
  { runs }: IRunOutput
): string | undefined {
  const failed = runs?.find(
    ({ status }) => status !== 'ok' && status !== 'skipped'
  );
  if (failed) {
    const { ename, evalue } = failed.error ?? {};
    const why = [ename, evalue].filter(Boolean).join(': ');
    return `Not all cells ran. ${why || `One ended as ${failed.status}.`}`;
  }
  return ok ? undefined : (error?.message ?? 'The cells could not be run.');
}
