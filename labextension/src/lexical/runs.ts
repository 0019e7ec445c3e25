import { showErrorMessage } from '@jupyterlab/apputils';

import { messageOf } from '../api/errors';
import type { ToolResult } from '../api/types';

/** Runs of a document's code, one after the other. */
export class Runs {
  /** `onChanged`: something began or ended; `onEnded`: something ended. */
  constructor(
    private readonly _onChanged: () => void,
    private readonly _onEnded: () => unknown
  ) {}

  /** The id of the block that runs, "all", or null. */
  get running(): string | null {
    return this._running;
  }

  dispose(): void {
    this._isDisposed = true;
  }

  /** Run after what was asked for before. */
  add(what: string, run: () => Promise<ToolResult>): Promise<void> {
    this._queue = this._queue.then(() => this._run(what, run));
    return this._queue;
  }

  private async _run(
    what: string,
    run: () => Promise<ToolResult>
  ): Promise<void> {
    if (this._isDisposed) {
      return;
    }
    this._running = what;
    this._onChanged();
    try {
      const { ok, output, error } = await run();
      // What failed in the kernel stands below the code.
      const isShown = (output as { runs?: unknown } | null)?.runs;
      if (!ok && !isShown) {
        this._onFailed(error?.message ?? 'Unknown reason');
      }
    } catch (error) {
      this._onFailed(messageOf(error));
    } finally {
      this._running = null;
      if (!this._isDisposed) {
        this._onChanged();
        this._onEnded();
      }
    }
  }

  private _onFailed(reason: string): void {
    // Nobody waits for the run of a document that was closed.
    if (!this._isDisposed) {
      void showErrorMessage('Not Run', reason);
    }
  }

  private _running: string | null = null;
  private _queue = Promise.resolve();
  private _isDisposed = false;
}
