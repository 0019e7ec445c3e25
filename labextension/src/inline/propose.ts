import { ProposalDecision } from '../api/types';
import { IProposal, ProposalTarget } from '../proposals';
import type { Outcome } from './target';

/** The command that shows a proposal that was made elsewhere as a diff where it belongs. */
export const PROPOSE = 'datalayer-agent:inline-propose';

/** What it is given. */
export interface IProposeArguments {
  /** The notebook or file, under the server's root. */
  path: string;
  proposal: IProposal;
  /** A label for users: "Proposed in the panel". */
  from: string;
}

/** What it returns as soon as the proposal is shown. */
export interface IShownProposal {
  /** Fulfilled when the user has decided on it. */
  decided: Promise<ProposalDecision>;
}

/** What is said to the session that made a proposal. */
export function decisionOf(
  target: ProposalTarget,
  outcome: Outcome
): ProposalDecision {
  return target.kind === 'file'
    ? { kind: 'file', target: target.path, outcome }
    : {
        // Only fixes that need no model propose a cell before another one.
        kind: target.kind === 'cell' ? 'cell' : 'after',
        target: target.cellId,
        outcome
      };
}

/** The same as a JSON schema. */
export const PROPOSE_SCHEMA = {
  args: {
    type: 'object',
    required: ['path', 'proposal', 'from'],
    properties: {
      path: { type: 'string' },
      proposal: { type: 'object' },
      from: { type: 'string' }
    }
  }
} as const;
