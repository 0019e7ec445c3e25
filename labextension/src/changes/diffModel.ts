import type { ICell } from '@jupyterlab/nbformat';
import { IDisposable } from '@lumino/disposable';

import { messageOf } from '../api/errors';
import type { ChangesReply } from '../api/types';
import { findAgain, INamedCells, presentId } from '../notebook/cellNames';
import { namesAnew } from '../notebook/cells';
import { isLexical } from '../notebook/documentKind';
import { openChanges } from '../session/reduceDecided';
import type { ITurn } from '../session/turn';
import { Observable } from '../session/observable';
import type { Colour } from '../diff/colours';
import { canDecide, Pending, recordedIn } from './pending';
import type { ISessionOnPage } from './sessionsOnPage';
import type { IChangesDecider, IChangesSource } from './source';
import { CellsNow, IDocumentDiff, turnDiff } from './turnDiff';

/** What the tab with a turn's diff shows. */
export interface IShownDiff {
  documents: readonly IDocumentDiff[] | null;
  problem: string | null;
  /** What the user had asked for. */
  message: string;
  /** Something waits for a decision, and can be decided on now. */
  canDecide: boolean;
}

/** A notebook as it is now, and the type of its code. */
export interface IReadNotebook {
  notebook: INamedCells & { nbformat: number; nbformat_minor: number };
  cells: readonly ICell[];
  mimeType: string;
}

/** What the diff of a turn is made from. */
export interface IDiffModelOptions {
  source: IChangesSource;
  pending: Pending;
  sessionId: string;
  turnId: string;
  /** A notebook as it is now; null where it cannot be read. */
  read: (path: string) => Promise<IReadNotebook | null>;
  /** What a file of this name is, going by its ending. */
  mimeTypeOf: (path: string) => string;
  /** Null where the page has no registry of languages. */
  colour: Colour | null;
}

/** The diff of one turn, which follows what the turn does and what is decided about it. */
export class DiffModel implements IDisposable {
  constructor(private readonly _options: IDiffModelOptions) {
    _options.pending.changed.connect(this._onChanged, this);
    void this.load();
  }

  readonly shown = new Observable<IShownDiff>({
    documents: null,
    problem: null,
    message: '',
    canDecide: false
  });

  get source(): IChangesSource {
    return this._options.source;
  }

  get sessionId(): string {
    return this._options.sessionId;
  }

  get colour(): Colour | null {
    return this._options.colour;
  }

  get turnId(): string {
    return this._options.turnId;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._options.pending.changed.disconnect(this._onChanged, this);
  }

  /** Read it from the server and from the notebooks. */
  async load(): Promise<void> {
    const { source, sessionId, turnId } = this._options;
    this._seen = this._turn;
    const count = ++this._loads;
    try {
      const [reply, message] = await Promise.all([
        source.client.turnChanges(sessionId, turnId, true),
        this._seen?.message ??
          source.client.getTurn(turnId).then(({ turn }) => turn.message)
      ]);
      const all = [...reply.changes, ...(reply.before ?? [])];
      const paths = new Set(all.map(({ path }) => path));
      // A script is one, too, where the server opens it as a notebook.
      const notebooks = new Set(
        all
          .filter(({ path, cellId }) => cellId && !isLexical(path))
          .map(({ path }) => path)
      );
      const now = new Map<string, CellsNow>();
      const types = new Map<string, string>();
      for (const path of paths) {
        const read = notebooks.has(path)
          ? await this._options.read(path)
          : null;
        types.set(path, read?.mimeType ?? this._options.mimeTypeOf(path));
        if (read) {
          now.set(path, cellsNow(read, path, reply));
        }
      }
      if (count === this._loads && !this._isDisposed) {
        const documents = turnDiff(reply, now).map(each => ({
          ...each,
          mimeType: types.get(each.path)
        }));
        this.shown.patch({ documents, message, problem: null });
        this._look();
      }
    } catch (error) {
      const problem = messageOf(error);
      this.shown.patch({ problem });
    }
  }

  /** Where the turn is decided on. */
  get decider(): IChangesDecider | null {
    return this._session?.decider ?? null;
  }

  /** The turn's conversation, where the page listens to it. */
  private get _session(): ISessionOnPage | null {
    const { pending, sessionId } = this._options;
    return pending.session(sessionId);
  }

  private get _turn(): ITurn | null {
    const { turnId } = this._options;
    const store = this._session?.store;
    return store?.conversation.current.turnIds.includes(turnId)
      ? store.turn(turnId).current
      : null;
  }

  private _onChanged(): void {
    const { _turn: turn, _seen: seen } = this;
    if (
      turn &&
      (turn.changes !== seen?.changes || turn.decided !== seen?.decided)
    ) {
      void this.load();
    }
    this._look();
  }

  private _look(): void {
    const { _turn: turn, _session: session } = this;
    this.shown.patch({
      canDecide:
        turn !== null &&
        session !== null &&
        openChanges(turn).length > 0 &&
        canDecide(session)
    });
  }

  private _seen: ITurn | null = null;
  private _loads = 0;
  private _isDisposed = false;
}

/** The cells by the ids under which the turn's changes are recorded, where there are any. */
function cellsNow(
  { notebook, cells }: IReadNotebook,
  path: string,
  reply: ChangesReply
): CellsNow {
  const changes = reply.changes.filter(each => each.path === path);
  const ids = new Map(
    changes.flatMap(({ cellId, op }) => (cellId ? [[cellId, op]] : []))
  );
  if (namesAnew(notebook, path)) {
    findAgain(notebook, recordedIn({ turns: [{ changes }], cells: ids }));
  }
  const recorded = new Map(
    [...ids.keys()].map(id => [presentId(notebook, id), id])
  );
  return new Map(
    cells.map((cell, place) => {
      const id = notebook.cells[place].getId();
      return [recorded.get(id) ?? id, cell];
    })
  );
}
