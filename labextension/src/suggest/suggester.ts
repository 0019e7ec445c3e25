import { DisposableDelegate, IDisposable } from '@lumino/disposable';

/** How long nothing is to happen after a run, in ms. */
export const DELAY_MS = 2_000;

/** What a suggester is made of. */
export interface ISuggesterOptions<Place> {
  /** Ask for the source of the next cell; empty for none. */
  ask: (place: Place, signal: AbortSignal) => Promise<string>;
  /** Show it, until it is disposed of; null where the place is gone, or taken. */
  show: (place: Place, source: string) => IDisposable | null;
  /** Notify when the user types. */
  onUserTyping: (notify: () => void) => IDisposable;
}

/** One suggestion at a time: asked for after a run, and reverted by whatever the user does. */
export class Suggester<Place> {
  constructor(private readonly _options: ISuggesterOptions<Place>) {}

  /** A cell ended well. What was under way for another one is over. */
  ran(place: Place): void {
    this.cancel();
    const { ask, show, onUserTyping } = this._options;
    const abort = new AbortController();
    const timer = window.setTimeout(async () => {
      // Nobody asked for it: a failure leaves everything as it is.
      const source = await ask(place, abort.signal).catch(() => '');
      if (!abort.signal.aborted && source.trim()) {
        this._shown = show(place, source);
      }
    }, DELAY_MS);
    const typing = onUserTyping(() => this.cancel());
    this._waiting = new DisposableDelegate(() => {
      window.clearTimeout(timer);
      abort.abort();
      typing.dispose();
    });
  }

  /** Suggest nothing, and remove what is shown. */
  cancel(): void {
    this._waiting?.dispose();
    this._waiting = null;
    this._shown?.dispose();
    this._shown = null;
  }

  private _waiting: IDisposable | null = null;
  private _shown: IDisposable | null = null;
}
