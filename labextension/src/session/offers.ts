import { FixInfo, FixesOffered } from '../api/types';
import { spoken } from './toolNames';

/** What could be done about a cell that failed. */
export interface IFixOffer {
  path: string;
  cellId: string;
  fixes: readonly FixInfo[];
}

/** The offers of a turn after one more; the newest about a cell is the one that holds. */
export function offersAfter(
  offers: readonly IFixOffer[],
  { path, cellId, fixes }: FixesOffered
): readonly IFixOffer[] {
  const others = offers.filter(
    other => other.path !== path || other.cellId !== cellId
  );
  return fixes.length ? [...others, { path, cellId, fixes }] : others;
}

/** What is on the chip: the fix, and that the cell is run after it. */
export function fixLabel({ label, title }: FixInfo): string {
  return label ?? title;
}

/** What a fix would do, call by call, and the code that it would write or run. */
export function fixSteps({
  calls
}: FixInfo): { what: string; code?: string }[] {
  return calls.map(({ name, label, arguments: given }) => {
    const code = given.content ?? given.code;
    return {
      what: label ?? spoken(name),
      code: typeof code === 'string' ? code : undefined
    };
  });
}
