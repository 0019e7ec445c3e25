import { IDisposable } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import type { ChangedBlock } from '../api/types';
import type { LexicalDocument } from '../lexical/factory';
import type { INode } from '../lexical/document';
import type { LexicalView } from '../lexical/view';
import { BlockMarks, IBlockMark } from './blockMarks';
import { DocumentBar, IDocumentBarOptions } from './documentBar';
import type { IDocumentChanges } from './documentChanges';
import {
  canDecide,
  IPending,
  IPendingTurn,
  isRunning,
  NOTHING_PENDING,
  Pending
} from './pending';
import { Placeholder } from './placeholders';
import type { IChangesSource } from './source';

/** How long changes of a document are gathered before its marks are asked for, in ms. */
const MARK_MS = 300;

/** What the changes in a Lexical document need of the page. */
export interface ILexicalChangesOptions {
  widget: LexicalDocument;
  pending: Pending;
  client: IChangesSource['client'];
  path: () => string | null;
  showDiff: (turn: IPendingTurn) => void;
  openPanel: () => void;
}

interface ITurnBlock {
  readonly turn: IPendingTurn;
  readonly block: ChangedBlock;
}

/** What the agent changed in an open Lexical document: marks, placeholders and the bar. */
export class LexicalChanges implements IDocumentChanges, IDisposable {
  constructor(private readonly _options: ILexicalChangesOptions) {
    const { widget, pending } = _options;
    pending.changed.connect(this._update, this);
    widget.context.pathChanged.connect(this._update, this);
    widget.disposed.connect(this.dispose, this);
    void widget.loaded.then(view => {
      if (!this._isDisposed) {
        this._view = view;
        view.rendered.connect(this._onRendered, this);
        this._update();
      }
    });
    this._update();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.clearTimeout(this._timer);
    this._options.pending.changed.disconnect(this._update, this);
    this._marks.dispose();
    this._notes.forEach(note => note.dispose());
    this._bar?.dispose();
  }

  get pending(): IPending {
    return this._pending;
  }

  get hasMarks(): boolean {
    return this._marks.count > 0;
  }

  get canDecide(): boolean {
    const [newest] = this._pending.turns;
    return newest !== undefined && canDecide(newest.session);
  }

  keep(): void {
    this._decide('keep');
  }

  undo(): void {
    this._decide('undo');
  }

  move(by: 1 | -1): void {
    const view = this._view;
    const shown = view?.shown ?? [];
    const from = view?.shownOf(document.activeElement) ?? this._at;
    const at = from ? shown.indexOf(from) : by < 0 ? 0 : -1;
    for (let step = 1; step <= shown.length; step++) {
      const next = shown[(at + by * step + step * shown.length) % shown.length];
      if (next && this._marks.has(next)) {
        this._at = next;
        view!.focusBlock(next);
        return;
      }
    }
  }

  private _decide(how: 'keep' | 'undo'): void {
    if (this.canDecide) {
      const { session, turnId, isAll } = this._pending.turns[0];
      this._leave();
      // An empty id stands for the document as a whole.
      session.decider[how](turnId, isAll ? undefined : ['']);
    }
  }

  private _update(): void {
    const { pending, path } = this._options;
    const here = path();
    this._pending = here === null ? NOTHING_PENDING : pending.of(here);
    const changes = this._pending.turns.flatMap(turn => turn.changes);
    const isSame =
      changes.length === this._changes.length &&
      changes.every((each, index) => each === this._changes[index]);
    this._changes = changes;
    if (!changes.length) {
      this._mark([]);
    } else if (!isSame) {
      this._markSoon();
    }
    this._showBar();
  }

  private _onRendered(): void {
    // Marks stay where they are until it is known where they belong now.
    if (this._changes.length) {
      this._markSoon();
    }
  }

  private _markSoon(): void {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => void this._readMarks(), MARK_MS);
  }

  private async _readMarks(): Promise<void> {
    const count = ++this._reads;
    const { client, path } = this._options;
    const { turns } = this._pending;
    const here = path();
    const found = await Promise.all(
      turns.map(async turn => {
        const { sessionId } = turn.session;
        const reply = sessionId
          ? await client.turnBlocks(sessionId, turn.turnId).catch(() => null)
          : null;
        return { turn, blocks: reply?.blocks ?? [] };
      })
    );
    if (count === this._reads && !this._isDisposed) {
      this._mark(
        found.flatMap(({ turn, blocks }) =>
          blocks
            .filter(block => block.path === here)
            .map(block => ({ turn, block }))
        )
      );
    }
  }

  private _mark(found: readonly ITurnBlock[]): void {
    const marks = new Map<number, IBlockMark>();
    const removed = new Map<string, ITurnBlock>();
    for (const { turn, block } of found) {
      const { op, index, before } = block;
      if (op === 'delete') {
        removed.set(`${turn.turnId} ${JSON.stringify(before)}`, {
          turn,
          block
        });
      } else if (op === 'insert' || !marks.has(index)) {
        // Added by an earlier turn and changed since, it is still a new block.
        const { message } = turn.session.store.turn(turn.turnId).current;
        marks.set(index, { op, message });
      }
    }
    this._marks.show(this._view?.shown ?? [], marks);
    this._showRemoved(removed);
    this._showBar();
  }

  /** Placeholders where the agent removed blocks, for a moment. */
  private _showRemoved(removed: ReadonlyMap<string, ITurnBlock>): void {
    const view = this._view;
    this._removed = removed;
    for (const [id, { turn, block }] of view ? removed : []) {
      if (this._known.has(id)) {
        continue;
      }
      this._known.add(id);
      const key = `${turn.turnId} ${block.index}`;
      let note = this._notes.get(key);
      if (!note || note.isDisposed) {
        note = new Placeholder(ids => void this._giveBack(view!, ids), 'block');
        const after = view!.shownAt(block.index);
        const { element } = after ?? view!.shown[view!.shown.length - 1] ?? {};
        if (!element?.isConnected) {
          continue;
        }
        Widget.attach(
          note.widget,
          element,
          after ? (element.firstElementChild as HTMLElement) : null
        );
        this._notes.set(key, note);
      }
      note.add(id);
    }
    const turns = new Map(
      [...removed].map(([id, each]) => [id, each.turn] as const)
    );
    for (const [key, note] of this._notes) {
      note.show(turns);
      if (note.isDisposed) {
        this._notes.delete(key);
      }
    }
  }

  private async _giveBack(view: LexicalView, ids: string[]): Promise<void> {
    const blocks = ids.flatMap(id => this._removed.get(id)?.block ?? []);
    if (blocks.length) {
      this._leave();
      await view.changes.insert(
        Math.min(...blocks.map(({ index }) => index)),
        blocks.flatMap(({ before }) => (before ?? []) as unknown as INode[])
      );
    }
  }

  private _showBar(): void {
    if (!this._pending.turns.length) {
      this._leave();
      this._bar?.dispose();
      this._bar = null;
    } else if (this._bar) {
      this._bar.options = this._barOptions;
    } else {
      this._bar = new DocumentBar('document', this, this._barOptions);
      this._options.widget.contentHeader.addWidget(this._bar);
    }
  }

  /** What has the focus may be about to go: the keyboard is then in the document. */
  private _leave(): void {
    const { widget } = this._options;
    const active = document.activeElement;
    if (
      active?.closest('.da-nb-changes, .da-removed-cell') &&
      widget.node.contains(active)
    ) {
      this._view?.activate();
    }
  }

  private get _barOptions(): IDocumentBarOptions {
    const { showDiff, openPanel } = this._options;
    const [turn] = this._pending.turns;
    const { session, conflicts } = turn;
    const running = isRunning(session);
    return {
      label: conflicts
        ? 'Changed by you, too: decide in the panel'
        : `${blocksLabel(this._marks.count)}${running ? ' so far' : ''}`,
      isLeft: conflicts > 0,
      isRunning: running,
      isBusy: !running && !canDecide(session),
      showDiff: () => showDiff(turn),
      openPanel
    };
  }

  private readonly _marks = new BlockMarks();
  private readonly _known = new Set<string>();
  private readonly _notes = new Map<string, Placeholder>();
  private _removed: ReadonlyMap<string, ITurnBlock> = new Map();
  private _changes: readonly unknown[] = [];
  private _pending = NOTHING_PENDING;
  private _view: LexicalView | null = null;
  private _at: LexicalView['shown'][number] | null = null;
  private _bar: DocumentBar | null = null;
  private _reads = 0;
  private _timer: number | undefined;
  private _isDisposed = false;
}

function blocksLabel(count: number): string {
  return count
    ? `${count} ${count === 1 ? 'block' : 'blocks'} changed`
    : 'Changed by the agent';
}
