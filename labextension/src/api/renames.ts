/** A document or folder that has another path now. */
export interface IRename {
  readonly oldPath: string;
  readonly path: string;
}

/** Where what was at a path is after a rename: there, or in a renamed folder. */
export function pathAfter(known: string, { oldPath, path }: IRename): string {
  return known === oldPath || known.startsWith(`${oldPath}/`)
    ? path + known.slice(oldPath.length)
    : known;
}
