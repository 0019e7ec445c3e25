import { PageConfig } from '@jupyterlab/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

const STORED = 'datalayer-agent:widgets:';
const MOST_KERNELS = 50;

/** What is known of the widgets that code of the agent's made: by their ids, whether they wait. */
type Known = Record<string, boolean>;

/**
 * The widgets that code of the agent's made in each kernel, and which of them wait to be shown. It
 * is kept in the browser's storage: after a reload the kernel sends all of its widgets at once.
 */
export class AgentComms {
  constructor(private readonly _storage: Storage = window.localStorage) {}

  /** It became known of a widget, by its id, that it waits. */
  get held(): ISignal<this, string> {
    return this._held;
  }

  isAgents(kernelId: string, commId: string): boolean {
    return commId in (this._read()[kernelId] ?? {});
  }

  /** Whether a widget waits, in whichever kernel. */
  waits(commId: string): boolean {
    return Object.values(this._read()).some(known => known[commId]);
  }

  add(kernelId: string, commId: string, waits: boolean): void {
    const { [kernelId]: known, ...others } = this._read();
    if (known?.[commId] === waits) {
      return;
    }
    const kept = Object.entries(others).slice(1 - MOST_KERNELS);
    this._write({
      ...Object.fromEntries(kept),
      [kernelId]: { ...known, [commId]: waits }
    });
    if (waits) {
      this._held.emit(commId);
    }
  }

  /** Nothing of a kernel waits any more. */
  release(kernelId: string): void {
    const all = this._read();
    for (const commId of Object.keys(all[kernelId] ?? {})) {
      all[kernelId][commId] = false;
    }
    this._write(all);
  }

  private _write(all: Record<string, Known>): void {
    this._all = all;
    try {
      this._storage.setItem(this._key, JSON.stringify(all));
    } catch {
      // A full storage: it is known until the page is loaded again.
    }
  }

  private _read(): Record<string, Known> {
    if (!this._all) {
      try {
        const read: unknown = JSON.parse(
          this._storage.getItem(this._key) ?? '{}'
        );
        this._all =
          typeof read === 'object' && read !== null
            ? (read as Record<string, Known>)
            : {};
      } catch {
        this._all = {};
      }
    }
    return this._all;
  }

  private readonly _key = STORED + PageConfig.getBaseUrl();
  private _all: Record<string, Known> | null = null;
  private readonly _held = new Signal<this, string>(this);
}
