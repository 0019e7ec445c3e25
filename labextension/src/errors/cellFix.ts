import { FixInfo } from '../api/types';
import { IProposal } from '../proposals';

/** A model-free fix as it is shown in a notebook. */
export interface ICellFix {
  /** What it changes, to be shown as diffs. */
  proposals: readonly IProposal[];
  /** The cells that are run after it, in this order; those that it adds come before them. */
  runs: readonly string[];
}

/** The key of a fix: the same one is not tried twice. */
export function keyOf({ calls }: FixInfo): string {
  return JSON.stringify(calls);
}

/**
 * A fix as proposals; null for one that does something else than changing and running cells.
 * `sourceOf` gives the source of a cell, null for one that is not there.
 */
export function cellFixOf(
  fix: FixInfo,
  sourceOf: (cellId: string) => string | null
): ICellFix | null {
  const sources = new Map<string, string>();
  const added: IProposal[] = [];
  const runs = new Set<string>();
  for (const { name, arguments: given } of fix.calls) {
    switch (name) {
      case 'addNotebookCell': {
        const proposal = newCell(given);
        if (!proposal) {
          return null;
        }
        added.push(proposal);
        break;
      }
      case 'updateNotebookCell': {
        const cellId = String(given.cellId);
        const before = sources.get(cellId) ?? sourceOf(cellId);
        const after = before === null ? null : edited(before, given);
        if (after === null) {
          return null;
        }
        sources.set(cellId, after);
        if (given.run) {
          runs.add(cellId);
        }
        break;
      }
      case 'runNotebookCells':
        (given.cellIds as string[]).forEach(cellId => runs.add(cellId));
        break;
      default:
        return null;
    }
  }
  const changed = [...sources].map(([cellId, source]) =>
    proposal({ kind: 'cell', cellId }, source)
  );
  return { proposals: [...added, ...changed], runs: [...runs] };
}

type Arguments = Readonly<Record<string, unknown>>;

function newCell(given: Arguments): IProposal | null {
  const { before, after } = (given.position ?? {}) as Record<string, unknown>;
  const source = String(given.content ?? '');
  if (typeof before === 'string') {
    return proposal({ kind: 'before', cellId: before }, source);
  }
  return typeof after === 'string'
    ? proposal({ kind: 'after', cellId: after }, source)
    : null;
}

/** The source after a call; null where the text to be replaced is not there once. */
function edited(source: string, given: Arguments): string | null {
  if (typeof given.content === 'string') {
    return given.content;
  }
  let text = source;
  for (const edit of (given.edits ?? []) as Record<string, string>[]) {
    const parts = text.split(edit.oldString);
    if (parts.length !== 2) {
      return null;
    }
    text = parts.join(edit.newString);
  }
  return text;
}

function proposal(target: IProposal['target'], source: string): IProposal {
  return { target, language: '', source, isComplete: true };
}
