import { ApiError, messageOf } from '../../api/errors';
import { IUploadStep } from '../../api/upload';
import { Attachment, Dataset, Event, Op } from '../../api/types';
import { IPanelClient } from '../../api/services';
import { formatSize } from './labels';
import { Observable } from '../../session/observable';

/** A file of the user's computer on its way to be a data set, or what became of it. */
export interface IUpload {
  id: number;
  name: string;
  size: number;
  stage: 'queued' | IUploadStep['stage'] | 'done' | 'failed';
  fraction?: number;
  dataset?: Dataset;
  problem?: string;
  /** The encodings to choose from, where none is certain. */
  encodings?: readonly IEncodingChoice[];
}

/** An encoding that a file may have, and how its words read in it. */
export interface IEncodingChoice {
  encoding: string;
  label: string;
  preview: string;
}

/** The data sets as far as they are known. */
export interface IDatasets {
  list: readonly Dataset[] | null;
  /** How large a file may be, in bytes. */
  limit?: number;
  problem?: string;
}

/** A session that was shown when something began in it, whatever is shown when it ends. */
export interface IPlace {
  /** Its id; it is made if need be. */
  session: () => Promise<string>;
  /** Attach to its next message, where it is still shown. */
  attach: (attachment: Attachment) => void;
}

/** What a `DatasetController` is made of. */
export interface IDatasetControllerOptions {
  client: Pick<IPanelClient, 'upload' | 'listDatasets' | 'deleteDataset'>;
  /** Where something that begins now belongs. */
  place: () => IPlace;
  submit: (op: Op, sessionId: string) => Promise<void>;
  detach: (attachment: Attachment) => void;
  reportError: (error: unknown) => void;
}

/** Uploads, one after the other, and the data sets that they became. */
export class DatasetController {
  constructor(private readonly _parts: IDatasetControllerOptions) {}

  readonly uploads = new Observable<readonly IUpload[]>([]);
  readonly known = new Observable<IDatasets>({ list: null });

  dispose(): void {
    for (const running of this._running.values()) {
      running.abort();
    }
  }

  /** Make data sets of files, and attach them to the next message. */
  async upload(files: readonly File[]): Promise<void> {
    const place = this._parts.place();
    const added = files.map(file => ({ file, id: ++this._lastId }));
    this.uploads.set([
      ...this.uploads.current,
      ...added.map(({ file: { name, size }, id }) => ({
        id,
        name,
        size,
        stage: 'queued' as const
      }))
    ]);
    for (const { file, id } of added) {
      const turn = this._before.then(() => this._upload(id, file, place));
      this._before = turn;
    }
    await this._before;
  }

  /** Send a file again whose encoding was not certain, as the user chose it. */
  async choose(id: number, encoding: string): Promise<void> {
    const unread = this._unread.get(id);
    if (unread) {
      this._unread.delete(id);
      this._change(id, { problem: undefined, encodings: undefined });
      await this._upload(id, unread.file, unread.place, encoding);
    }
  }

  /** Stop an upload: nothing of it is left. One that is over is not shown any more. */
  cancel(id: number): void {
    this._running.get(id)?.abort();
    this._unread.delete(id);
    this.uploads.set(this.uploads.current.filter(each => each.id !== id));
  }

  /** The reports of uploads that are over were read: a message is sent, or a session left. */
  forgetReports(): void {
    this.uploads.set(
      this.uploads.current.filter(
        ({ stage }) => stage !== 'done' && stage !== 'failed'
      )
    );
  }

  /** Ask which data sets there are. */
  async refresh(): Promise<void> {
    try {
      const { datasets, maxUploadBytes } =
        await this._parts.client.listDatasets();
      this.known.set({ list: datasets, limit: maxUploadBytes });
    } catch (error) {
      this.known.patch({ problem: messageOf(error) });
    }
  }

  /** Attach a data set to the next message, and make it known to the conversation. */
  async attach({ name }: Dataset): Promise<void> {
    const place = this._parts.place();
    try {
      const sessionId = await place.session();
      await this._parts.submit(
        { type: 'upload_registered', dataset: { name } },
        sessionId
      );
      place.attach({ kind: 'dataset', name });
    } catch (error) {
      this._parts.reportError(error);
    }
  }

  /** Delete a data set and its file. */
  async remove({ name }: Dataset): Promise<void> {
    try {
      await this._parts.client.deleteDataset(name);
      this._parts.detach({ kind: 'dataset', name });
      this.uploads.set(
        this.uploads.current.filter(({ dataset }) => dataset?.name !== name)
      );
    } catch (error) {
      this._parts.reportError(error);
    }
    await this.refresh();
  }

  onEvent({ type }: Event): void {
    if (type === 'dataset_registered' && this.known.current.list) {
      void this.refresh();
    }
  }

  private async _upload(
    id: number,
    file: File,
    place: IPlace,
    encoding?: string
  ): Promise<void> {
    if (!this._find(id)) {
      return; // it was reverted while it waited
    }
    const running = new AbortController();
    this._running.set(id, running);
    this._change(id, { stage: 'sending' });
    try {
      await this._checkSize(file);
      const sessionId = await place.session();
      const dataset = await this._parts.client.upload({
        file,
        sessionId,
        encoding,
        signal: running.signal,
        onStep: ({ stage, fraction }) => this._change(id, { stage, fraction })
      });
      this._change(id, { stage: 'done', dataset, fraction: undefined });
      place.attach({ kind: 'dataset', name: dataset.name });
      void this.refresh();
    } catch (error) {
      if (!running.signal.aborted) {
        const encodings = encodingsOf(error);
        if (encodings) {
          this._unread.set(id, { file, place });
        }
        this._change(id, {
          stage: 'failed',
          problem: encodings
            ? 'The encoding of this file is not certain. Choose the one in which its words are right:'
            : messageOf(error),
          encodings
        });
      }
    } finally {
      this._running.delete(id);
    }
  }

  /** Before anything is sent: a connection that is closed in the middle says nothing. */
  private async _checkSize({ name, size }: File): Promise<void> {
    if (this.known.current.limit === undefined) {
      await this.refresh();
    }
    const { limit } = this.known.current;
    if (limit !== undefined && size > limit) {
      throw new Error(
        `${name} is too large (${formatSize(size)}, limit ${formatSize(limit)}).`
      );
    }
  }

  private _find(id: number): IUpload | undefined {
    return this.uploads.current.find(each => each.id === id);
  }

  private _change(id: number, fields: Partial<IUpload>): void {
    this.uploads.set(
      this.uploads.current.map(each =>
        each.id === id ? { ...each, ...fields } : each
      )
    );
  }

  private readonly _running = new Map<number, AbortController>();
  private readonly _unread = new Map<number, { file: File; place: IPlace }>();
  private _before: Promise<void> = Promise.resolve();
  private _lastId = 0;
}

function encodingsOf(error: unknown): readonly IEncodingChoice[] | undefined {
  return error instanceof ApiError
    ? (error.detail as { encodings?: IEncodingChoice[] } | null)?.encodings
    : undefined;
}
