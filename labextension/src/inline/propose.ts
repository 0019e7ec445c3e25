import { IProposal } from '../proposals';

/** The command that shows a proposal that was made elsewhere as a diff where it belongs. */
export const PROPOSE = 'datalayer-agent:inline-propose';

/** What it is told. */
export interface IProposeArguments {
  /** The notebook or file, under the server's root. */
  path: string;
  proposal: IProposal;
  /** In words for people: "Proposed in the panel". */
  from: string;
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
