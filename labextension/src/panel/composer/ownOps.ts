import { Event } from '../../api/types';

/**
 * The ops that this page submitted, so that it reports its own refused ops and not those of
 * another tab or of a `%agent` cell.
 */
export class OwnOps {
  /** The server has taken an op of this page. */
  add(opId: string): void {
    this._known.add(opId);
  }

  /**
   * Whether the event reports that an op of somebody else was refused. Messages that wait are seen
   * here, whoever sent them, and so is their refusal.
   */
  isOfOthers(event: Event): boolean {
    if (event.type === 'op_queued' || event.type === 'op_dequeued') {
      this._known.add(event.opId);
    }
    return (
      event.type === 'error' && !!event.opId && !this._known.has(event.opId)
    );
  }

  private readonly _known = new Set<string>();
}
