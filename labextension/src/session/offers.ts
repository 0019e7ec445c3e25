import { FixInfo, FixesOffered } from '../api/types';

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

/** What is on the chip: the repair, and that the cell is run after it. */
export function fixLabel({ title, calls }: FixInfo): string {
  const runs =
    calls.length > 0 &&
    calls.some(({ name, arguments: given }) =>
      /^run/i.test(name) ? true : given.run === true
    );
  return runs && !/\brun\b/i.test(title)
    ? `${title} and run the cell again`
    : title;
}

const DOES: Readonly<Record<string, string>> = {
  addnotebookcell: 'add a cell',
  updatenotebookcell: 'change the cell',
  runnotebookcells: 'run cells',
  executecode: 'run code in the kernel',
  selectkernel: 'choose a kernel',
  deletenotebookcells: 'delete cells',
  movenotebookcell: 'move a cell'
};

/** What a fix would do, call by call, and the code that it would write or run. */
export function fixSteps({
  calls
}: FixInfo): { what: string; code?: string }[] {
  return calls.map(({ name, arguments: given }) => {
    const does = DOES[name.toLowerCase().replace(/_/g, '')] ?? name;
    const andRun = given.run === true ? ' and run it' : '';
    const code = given.content ?? given.code;
    const text = does + andRun;
    return {
      what: text.charAt(0).toUpperCase() + text.slice(1),
      code: typeof code === 'string' ? code : undefined
    };
  });
}
