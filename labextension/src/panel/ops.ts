import { Event, Op } from '../api/types';
import { IPanelConnection } from '../api/services';

/**
 * The way for ops to the server. It knows which of them this page submitted, so that the panel
 * reports its own refused ops and not those of another tab or of a `%agent` cell.
 */
export class Ops {
  constructor(
    private readonly _connection: Pick<IPanelConnection, 'submit'>,
    /** The session that is shown. */
    private readonly _sessionId: () => string | null,
    private readonly _reportError: (error: unknown) => void
  ) {}

  /** Put an op on the queue of a session: of the one that is shown, where no other is named. */
  async submit(op: Op, sessionId = this._sessionId()): Promise<void> {
    if (sessionId) {
      this.add(await this._connection.submit(sessionId, op));
    }
  }

  /** The same for the session that is shown; what goes wrong is reported. */
  send(op: Op): void {
    this.submit(op).catch(this._reportError);
  }

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
