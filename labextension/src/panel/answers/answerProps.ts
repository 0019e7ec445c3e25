import { useMemo } from 'react';

import { IAnswer, ITurn } from '../../session/turn';

/** Properties of one of several answers. */
export interface IAnswerProps {
  answer: IAnswer;
  turn: ITurn;
  /** The number by which a synthesis cites it. */
  number?: number;
  /** Whether the session can be made to go on from it, by a button of its own. */
  canChoose: boolean;
}

/** Where an answer is from; a copied turn has an id of its own. */
export function useProvenance(
  answer: IAnswer,
  turnId: string
): IAnswer['provenance'] {
  return useMemo(
    () => answer.provenance && { ...answer.provenance, aiTurnId: turnId },
    [answer.provenance, turnId]
  );
}
