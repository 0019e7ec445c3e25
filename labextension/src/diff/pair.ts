/** What became of a cell, or of a file, in a turn; one that was only run has another output. */
export type DiffKind = 'added' | 'removed' | 'changed' | 'moved' | 'ran';

/** Two texts that differ. */
export interface IPair {
  before: string;
  after: string;
}
