import { IDisposable } from '@lumino/disposable';

import { IProposal, ProposalTarget } from '../proposals';
import type { IOpenChat } from './openChats';
import { IInlineTarget, ISlot, Outcome } from './target';

/** What is undecided on the page, in the answer's order. */
export interface IPending {
  count: number;
  /** The number of the piece that the keys mean, from 1; 0 for none. */
  current: number;
  /** Pieces in which the person has typed since. */
  blocked: number;
  isComplete: boolean;
}

/** What became of a proposal. */
export interface IDecided {
  proposal: IProposal;
  outcome: Outcome;
  /** Names the proposal among those of its answer. */
  key: string;
}

/** What was decided of an answer before the page was loaded, by the keys of its proposals. */
export type Before = Pick<IOpenChat, 'done' | 'rejected'>;

/** Whom a board tells. */
export interface IBoardListener {
  changed(): void;
  /** A proposal is decided on, as a whole or as far as it ever will be. */
  decided(decided: IDecided): void;
  /** These pieces of a proposal are rejected, others of it undecided. */
  rejected(proposal: IProposal, key: string, ids: readonly number[]): void;
}

/** The proposals of one answer, each where it belongs. */
export class Board implements IDisposable {
  constructor(
    private readonly _target: IInlineTarget,
    private readonly _listener: IBoardListener,
    private readonly _before: Before
  ) {}

  /** The names of targets that are not in the document. */
  readonly lost = new Set<string>();

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get pending(): IPending {
    const all = this._pieces();
    return {
      count: all.length,
      current: all.findIndex(({ slot, id }) => this._isCurrent(slot, id)) + 1,
      blocked: all.filter(({ isBlocked }) => isBlocked).length,
      isComplete: this._isComplete
    };
  }

  /** The proposals of which something is undecided. */
  get waiting(): IProposal[] {
    const all = this._latest?.proposals ?? [];
    return all.filter(each => this._byKey.get(keyOf(each, all))?.pieces.length);
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      [...this._slots, ...this._halves].forEach(slot => slot.dispose());
    }
  }

  /** Show the proposals as far as they have come. */
  async show(proposals: readonly IProposal[], isOver: boolean): Promise<void> {
    this._latest = { proposals, isOver };
    if (this._isShowing) {
      return;
    }
    this._isShowing = true;
    try {
      for (let shown = null; shown !== this._latest && !this._isDisposed;) {
        shown = this._latest;
        await this._show(shown.proposals, shown.isOver);
      }
    } finally {
      this._isShowing = false;
    }
    this._listener.changed();
  }

  /** What is proposed for this text is to be replaced. */
  withdraw(proposal: IProposal): void {
    const key = keyOf(proposal, [proposal]);
    const slot = this._byKey.get(key);
    slot?.dispose();
    this._slots = this._slots.filter(other => other !== slot);
    this._byKey.delete(key);
    this._done.delete(key);
  }

  /** The person leaves it: what is undecided is rejected. */
  conclude(): void {
    this._tell(true);
  }

  /** Mean the piece that lies so many further. */
  move(by: number): void {
    const all = this._pieces();
    const at = all.findIndex(({ slot, id }) => this._isCurrent(slot, id));
    const next = all[(at + by + all.length) % all.length];
    if (next) {
      this._point(next.slot, next.id);
    }
  }

  /** Decide on the piece that the keys mean. */
  decide(isAccepted: boolean): void {
    const all = this._pieces();
    const piece =
      all.find(({ slot, id }) => this._isCurrent(slot, id)) ?? all[0];
    if (!piece) {
      return;
    }
    const { slot, id } = piece;
    const next = all[all.indexOf(piece) + 1] ?? all[0];
    if (isAccepted) {
      this._target.asOneStep([slot], () => slot.accept([id]));
    } else {
      slot.reject([id]);
    }
    if (next !== piece) {
      this._point(next.slot, next.id);
    }
  }

  /** Accept all in which the person has not typed since; the cells that were written. */
  acceptAll(): string[] {
    const slots = this._slots.filter(slot =>
      slot.pieces.some(({ isBlocked }) => !isBlocked)
    );
    if (slots.length) {
      this._target.asOneStep(slots, () =>
        slots.forEach(slot =>
          slot.accept(
            slot.pieces
              .filter(({ isBlocked }) => !isBlocked)
              .map(({ id }) => id)
          )
        )
      );
    }
    return this._slots.flatMap(({ written }) => written ?? []);
  }

  private async _show(
    proposals: readonly IProposal[],
    isOver: boolean
  ): Promise<void> {
    for (const proposal of proposals) {
      const key = keyOf(proposal, proposals);
      if (this._before.done.includes(key)) {
        continue;
      }
      let slot = this._byKey.get(key);
      if (slot === undefined) {
        slot = await this._target.slotFor(proposal.target);
        if (this._isDisposed) {
          slot?.dispose();
          return;
        }
        this._byKey.set(key, slot);
        if (slot) {
          this._slots.push(slot);
          slot.changed.connect(this._onSlot, this);
        } else {
          this.lost.add(nameOf(proposal.target));
        }
      }
      if (!this._done.has(key)) {
        slot?.show(proposal);
      }
      if (proposal.isComplete && isOver && !this._done.has(key)) {
        this._done.add(key);
        slot?.reject(this._before.rejected?.[key] ?? []);
      }
      if (!proposal.isComplete && isOver) {
        // Half a source is no proposal: the answer broke off in it. What has come of it stays to
        // be read, with nothing to decide.
        this._setAside(slot);
      }
    }
    if (isOver) {
      this._isComplete = true;
      const first = this._pieces()[0];
      if (first && !this._pieces().some(p => this._isCurrent(p.slot, p.id))) {
        this._point(first.slot, first.id);
      }
    }
  }

  private _pieces(): { slot: ISlot; id: number; isBlocked: boolean }[] {
    return this._slots.flatMap(slot =>
      slot.pieces.map(piece => ({ slot, ...piece }))
    );
  }

  private _setAside(slot: ISlot | null): void {
    if (slot) {
      this._slots = this._slots.filter(other => other !== slot);
      this._halves.add(slot);
    }
  }

  private _isCurrent(slot: ISlot, id: number): boolean {
    return slot === this._pointed && slot.current === id;
  }

  private _point(slot: ISlot, id: number): void {
    const before = this._pointed;
    this._pointed = slot;
    if (before && before !== slot && !before.isDisposed) {
      before.point(-1);
    }
    slot.point(id);
    this._listener.changed();
  }

  /** Tell of what is decided and was not told; with `isOver` nothing more will be. */
  private _tell(isOver: boolean): void {
    const all = this._latest?.proposals ?? [];
    for (const proposal of this._isComplete ? all : []) {
      const key = keyOf(proposal, all);
      const slot = this._byKey.get(key);
      if (!slot || slot.isDisposed) {
        continue;
      }
      if (this._told.has(slot) || this._halves.has(slot)) {
        continue;
      }
      const { outcome, rejected } = slot;
      if (outcome && (isOver || !slot.pieces.length)) {
        this._told.add(slot);
        this._listener.decided({ proposal, outcome, key });
      } else if (rejected.length > (this._rejected.get(slot) ?? 0)) {
        this._rejected.set(slot, rejected.length);
        this._listener.rejected(proposal, key, rejected);
      }
    }
  }

  private _onSlot(): void {
    if (!this._isDisposed) {
      this._tell(false);
      this._listener.changed();
    }
  }

  private _slots: ISlot[] = [];
  private _pointed: ISlot | null = null;
  private readonly _byKey = new Map<string, ISlot | null>();
  private readonly _done = new Set<string>();
  private readonly _told = new Set<ISlot>();
  /** How many rejected pieces were told. */
  private readonly _rejected = new Map<ISlot, number>();
  private readonly _halves = new Set<ISlot>();
  private _latest: { proposals: readonly IProposal[]; isOver: boolean } | null =
    null;
  private _isShowing = false;
  private _isComplete = false;
  private _isDisposed = false;
}

/** New cells behind the same cell are told apart by their order. */
function keyOf({ target }: IProposal, all: readonly IProposal[]): string {
  const same = all.filter(
    other =>
      other.target.kind === target.kind &&
      nameOf(other.target) === nameOf(target)
  );
  const number = same.findIndex(other => other.target === target);
  return `${target.kind} ${number} ${nameOf(target)}`;
}

/** The cell or the file that a proposal is for. */
export function nameOf(target: ProposalTarget): string {
  return target.kind === 'file' ? target.path : target.cellId;
}
