import { PageConfig } from '@jupyterlab/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

const STORED = 'datalayer-agent:shown:';

/**
 * The documents in which the user lets the page show all that the agent made: JavaScript, widgets,
 * pictures from elsewhere.
 *
 * They are kept in the browser's storage, which code in a kernel does not reach; the document itself
 * and the server's storage it could write.
 */
export class ShownDocuments {
  constructor(private readonly _storage: Storage = window.localStorage) {}

  /** Emitted with the path of a document that is shown from now on. */
  get shown(): ISignal<this, string> {
    return this._shown;
  }

  has(path: string | undefined): boolean {
    return !!path && this._paths().includes(path);
  }

  /** Have `release` finish before anything of a document is shown. Returns what ends that. */
  beforeShown(release: (path: string) => Promise<void>): () => void {
    this._releases.add(release);
    return () => this._releases.delete(release);
  }

  /** The user wants to see all that the agent made in this document, now and later. */
  async show(path: string): Promise<void> {
    await Promise.all([...this._releases].map(release => release(path)));
    if (!this.has(path)) {
      this._storage.setItem(
        this._key,
        JSON.stringify([...this._paths(), path])
      );
    }
    this._shown.emit(path);
  }

  private _paths(): string[] {
    try {
      const paths: unknown = JSON.parse(
        this._storage.getItem(this._key) ?? '[]'
      );
      return Array.isArray(paths) ? paths.map(String) : [];
    } catch {
      return [];
    }
  }

  /** Servers at one address, as a hub has them, do not share their documents. */
  private readonly _key = STORED + PageConfig.getBaseUrl();
  private readonly _releases = new Set<(path: string) => Promise<void>>();
  private readonly _shown = new Signal<this, string>(this);
}
