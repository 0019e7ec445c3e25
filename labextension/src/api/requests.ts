import { messageOf } from './errors';
import { PageFailure, PageProgress, PageRequest, PageResponse } from './types';

/** How long an answer is kept for a server that may have missed it, in ms. */
const KEEP_MS = 60_000;

/** How much is kept of such answers, in characters; the oldest go first. */
const KEEP_CHARACTERS = 20_000_000;

/** An answer above this size that broke the connection is not sent again. */
const LARGE_CHARACTERS = 1_000_000;

/** Whether a text is of more bytes (UTF-8) than may be sent at once. */
export function isTooLarge(text: string, maxBytes: number): boolean {
  // A character takes three bytes at most, and most texts are far from the limit.
  return (
    text.length * 3 > maxBytes &&
    new TextEncoder().encode(text).length > maxBytes
  );
}

/** What a page could not do, as the wire has it. Anything else that is thrown is `internal`. */
export class PageRequestError extends Error {
  constructor(
    readonly code: PageFailure['code'],
    message: string,
    readonly cells?: PageFailure['cells']
  ) {
    super(message);
    this.name = 'PageRequestError';
  }
}

/** Reports how a run goes on. */
type ReportProgress = (
  cellId: string,
  state: PageProgress['state'],
  msgId?: string
) => void;

/**
 * Does what the server asks and returns the `result` of the answer. `abandoned` is aborted when
 * nobody waits for that any more.
 */
export type RequestHandler = (
  request: PageRequest,
  progress: ReportProgress,
  abandoned: AbortSignal
) => Promise<unknown>;

/**
 * The server's requests to this page: each is carried out once and answered, over as many
 * connections as that takes.
 */
export class PageRequestHandler {
  /** @param send - Sends a text if the connection is open, and drops it otherwise. */
  constructor(private readonly _send: (text: string) => void) {}

  handler: RequestHandler | null = null;

  /** The largest message that the server takes, in bytes. */
  maxBytes = Infinity;

  /** Carry a request out and answer it; one that is known is not carried out again. */
  async accept(request: PageRequest): Promise<void> {
    const { requestId } = request;
    if (this._answers.has(requestId)) {
      this._sendAnswer(requestId);
      return;
    }
    this._answers.set(requestId, null);
    const abandon = new AbortController();
    this._abandon.set(requestId, abandon);
    const text = JSON.stringify(await this._carryOut(request, abandon.signal));
    this._abandon.delete(requestId);
    this._answers.set(
      requestId,
      isTooLarge(text, this.maxBytes) ? tooLarge(requestId, text) : text
    );
    this._sendAnswer(requestId);
    window.setTimeout(() => this._answers.delete(requestId), KEEP_MS);
    this._forgetOldest(requestId);
  }

  /** The requests that will be answered, or answered again, on the next connection. */
  get pending(): string[] {
    return [...this._answers.keys()];
  }

  /**
   * After a reconnect: send the newest answers again, since nothing shows whether they arrived.
   * The server ignores an answer to a request that it no longer waits for.
   */
  resend(): void {
    for (const requestId of this._answers.keys()) {
      this._sendAnswer(requestId);
    }
  }

  /** Nobody waits for the answers any more, but for those to these requests. */
  abandon(awaited: readonly string[] = []): void {
    for (const [requestId, controller] of this._abandon) {
      if (!awaited.includes(requestId)) {
        controller.abort();
      }
    }
  }

  /** The server closed the connection because of a message that was too big for it. */
  dropLarge(): void {
    for (const [requestId, text] of this._answers) {
      if (text && text.length > LARGE_CHARACTERS) {
        this._answers.set(requestId, tooLarge(requestId, text));
      }
    }
  }

  private async _carryOut(
    request: PageRequest,
    abandoned: AbortSignal
  ): Promise<PageResponse> {
    const { requestId } = request;
    const answer = { type: 'response', requestId } as const;
    try {
      if (!this.handler) {
        throw new PageRequestError('not_open', 'The page is still starting.');
      }
      const progress: ReportProgress = (cellId, state, msgId) => {
        this._send(
          JSON.stringify({
            type: 'progress',
            requestId,
            cellId,
            state,
            msgId
          } satisfies PageProgress)
        );
      };
      const result = await this.handler(request, progress, abandoned);
      return { ...answer, ok: true, result };
    } catch (error) {
      return { ...answer, ok: false, error: asFailure(error, request.method) };
    }
  }

  private _forgetOldest(newest: string): void {
    let total = 0;
    for (const text of this._answers.values()) {
      total += text?.length ?? 0;
    }
    for (const [requestId, text] of this._answers) {
      if (total <= KEEP_CHARACTERS || requestId === newest) {
        return;
      }
      if (text) {
        total -= text.length;
        this._answers.delete(requestId);
      }
    }
  }

  private _sendAnswer(requestId: string): void {
    const text = this._answers.get(requestId);
    if (text) {
      this._send(text);
    }
  }

  /** Answers by request id, in order; null while the request is being carried out. */
  private readonly _answers = new Map<string, string | null>();
  /** Of the requests that are being carried out. */
  private readonly _abandon = new Map<string, AbortController>();
}

/** The answer in place of one that cannot be sent. */
function tooLarge(requestId: string, text: string): string {
  return JSON.stringify({
    type: 'response',
    requestId,
    ok: false,
    error: {
      code: 'internal',
      message: `The page's answer was too large to be sent (${text.length} characters).`
    }
  } satisfies PageResponse);
}

function asFailure(error: unknown, method: string): PageFailure {
  if (error instanceof PageRequestError) {
    const { code, message, cells } = error;
    return { code, message, ...(cells && { cells }) };
  }
  console.error(`datalayer-agent: ${method} failed`, error);
  const message = messageOf(error);
  return { code: 'internal', message };
}
