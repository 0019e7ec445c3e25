import { ProposalDecision } from '../api/types';

/** What became of the proposals of answers, until the next message says it. */
export class Decided {
  /** Note it by a session, or by what represents one. */
  note(key: string, decision: ProposalDecision): void {
    this._of.set(key, [...this.of(key), decision]);
  }

  of(key: string): readonly ProposalDecision[] {
    return this._of.get(key) ?? [];
  }

  /** A message has said so much of it. */
  said(key: string, decided: readonly ProposalDecision[]): void {
    this._of.set(
      key,
      this.of(key).filter(each => !decided.includes(each))
    );
  }

  /** What stood for a session is another key now. */
  moved(from: string, to: string): void {
    this._of.set(to, [...this.of(to), ...this.of(from)]);
    this._of.delete(from);
  }

  private readonly _of = new Map<string, readonly ProposalDecision[]>();
}
