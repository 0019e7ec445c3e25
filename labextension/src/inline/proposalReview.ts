import { IDisposable } from '@lumino/disposable';

import { IProposal, ProposalTarget } from '../proposals';
import type { IOpenChat } from './openChats';
import { IInlineTarget, IProposalView, Outcome } from './target';

/** What is undecided on the page, in the answer's order. */
export interface IPendingHunks {
  count: number;
  /** The number of the hunk that the keys mean, from 1; 0 for none. */
  current: number;
  /** Hunks in which the user has typed since. */
  blocked: number;
  isComplete: boolean;
}

/** What became of a proposal. */
export interface IDecidedProposal {
  proposal: IProposal;
  outcome: Outcome;
  /** Names the proposal among those of its answer. */
  key: string;
}

/** What was decided of an answer before the page was loaded, by the keys of its proposals. */
export type Before = Pick<IOpenChat, 'done' | 'rejected'>;

/** What a review notifies. */
export interface IReviewListener {
  changed(): void;
  /** Something could not be accepted, for this reason. */
  refused(reason: string): void;
  /** A proposal is decided on, as a whole or as far as it ever will be. */
  decided(decided: IDecidedProposal): void;
  /** These hunks of a proposal are rejected, others of it undecided. */
  rejected(proposal: IProposal, key: string, ids: readonly number[]): void;
}

/** The proposals of one answer, each where it belongs. */
export class ProposalReview implements IDisposable {
  constructor(
    private readonly _target: IInlineTarget,
    private readonly _listener: IReviewListener,
    private readonly _before: Before
  ) {}

  /** Those whose targets are not in the document. */
  readonly lost = new Set<IProposal>();

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get pending(): IPendingHunks {
    const all = this._hunks();
    return {
      count: all.length,
      current: all.findIndex(({ view, id }) => this._isCurrent(view, id)) + 1,
      blocked: all.filter(({ isBlocked }) => isBlocked).length,
      isComplete: this._isComplete
    };
  }

  /** The proposals of which something is undecided. */
  get waiting(): IProposal[] {
    const all = this._latest?.proposals ?? [];
    return all.filter(each => this._byKey.get(keyOf(each, all))?.hunks.length);
  }

  /** Whether all that is proposed is there already: nothing was to be decided, now or before. */
  get isUnchanged(): boolean {
    const all = this._latest?.proposals ?? [];
    return (
      this._isComplete &&
      all.every(each => {
        const view = this._byKey.get(keyOf(each, all));
        return (
          view &&
          !this._halves.has(view) &&
          !view.hunks.length &&
          view.outcome === null
        );
      })
    );
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._byKey.forEach(view => view?.dispose());
    }
  }

  /** Show the proposals as far as they have come. */
  async show(proposals: readonly IProposal[], isOver: boolean): Promise<void> {
    this._latest = { proposals, isOver };
    if (this._isShowing || this._isHidden) {
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
    this._byKey.get(key)?.dispose();
    this._byKey.delete(key);
    this._former.delete(key);
    this._done.delete(key);
  }

  /** Take all off the page; what is undecided comes back with `renew`. */
  hide(): void {
    this._isHidden = true;
    for (const [key, view] of this._byKey) {
      this._retire(key, view);
    }
    this._listener.changed();
  }

  /** Whether something undecided is not on the page. */
  get isHidden(): boolean {
    return this._isHidden || this._former.size > 0;
  }

  /** Show again what was taken off the page, or has gone with cells that are shown anew. */
  async renew(): Promise<void> {
    const wasHidden = this._isHidden;
    this._isHidden = false;
    // Who moves cells, or sees them moved, looks elsewhere.
    this._isQuiet = !wasHidden;
    for (const [key, view] of this._byKey) {
      if (view?.isLost) {
        this._retire(key, view);
      }
    }
    if (this._latest && (wasHidden || this._former.size)) {
      const { proposals, isOver } = this._latest;
      await this.show(proposals, isOver);
    }
  }

  /** The user leaves it: what is undecided is rejected. */
  finish(): void {
    this._notifyDecided(true);
  }

  /** Mean the hunk that lies so many further. */
  move(by: number): void {
    const all = this._hunks();
    const at = all.findIndex(({ view, id }) => this._isCurrent(view, id));
    const next = all[(at + by + all.length) % all.length];
    if (next) {
      this._point(next.view, next.id);
    }
  }

  /** Decide on the hunk that the keys mean. */
  decide(isAccepted: boolean): void {
    const all = this._hunks();
    const hunk =
      all.find(({ view, id }) => this._isCurrent(view, id)) ?? all[0];
    if (!hunk) {
      return;
    }
    const { view, id } = hunk;
    const next = all[all.indexOf(hunk) + 1] ?? all[0];
    if (isAccepted) {
      this._target.asOneStep([view], () => view.accept([id]));
    } else {
      view.reject([id]);
    }
    if (next !== hunk) {
      this._point(next.view, next.id);
    }
  }

  /** Accept all in which the user has not typed since; the cells that were written. */
  acceptAll(): string[] {
    const views = this._views.filter(view =>
      view.hunks.some(({ isBlocked }) => !isBlocked)
    );
    if (views.length) {
      this._target.asOneStep(views, () =>
        views.forEach(view =>
          view.accept(
            view.hunks.filter(({ isBlocked }) => !isBlocked).map(({ id }) => id)
          )
        )
      );
    }
    return this._views.flatMap(({ written }) => written ?? []);
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
      const former = this._former.get(key);
      let view = this._byKey.get(key);
      if (view === undefined) {
        view = await this._target.viewFor(proposal.target, former);
        if (this._isDisposed || this._isHidden) {
          view?.dispose();
          return;
        }
        if (!view && former) {
          continue; // Its cell was deleted: it comes back with that.
        }
        this._byKey.set(key, view);
        this._former.delete(key);
        if (view) {
          this._rejected.set(view, former?.rejected.length ?? 0);
          view.changed.connect(this._onView, this);
          view.refused.connect((_, reason) => this._listener.refused(reason));
        } else {
          this.lost.add(proposal);
        }
      }
      if (!this._done.has(key)) {
        view?.show(proposal);
      }
      if (proposal.isComplete && isOver && !this._done.has(key)) {
        this._done.add(key);
        view?.reject(former?.rejected ?? this._before.rejected?.[key] ?? []);
      }
      if (!proposal.isComplete && isOver) {
        // Half a source is no proposal: the answer broke off in it. What has come of it stays to
        // be read, with nothing to decide.
        this._setAside(view);
      }
    }
    if (isOver) {
      this._isComplete = true;
      const first = this._hunks()[0];
      if (first && !this._hunks().some(p => this._isCurrent(p.view, p.id))) {
        this._point(first.view, first.id, this._isQuiet);
      }
    }
  }

  /** Those on the page, in the order of the answer. */
  private get _views(): IProposalView[] {
    const all = this._latest?.proposals ?? [];
    return all.flatMap(each => {
      const view = this._byKey.get(keyOf(each, all));
      return view && !this._halves.has(view) ? [view] : [];
    });
  }

  /** Take it off the page, to be shown again where something of it is undecided. */
  private _retire(key: string, view: IProposalView | null): void {
    if (!view) {
      return;
    }
    const isDecided = this._isComplete && !view.hunks.length;
    view.dispose();
    if (!isDecided || this._halves.has(view)) {
      this._former.set(key, view);
      this._byKey.delete(key);
      this._done.delete(key);
    }
  }

  private _hunks(): { view: IProposalView; id: number; isBlocked: boolean }[] {
    return this._views.flatMap(view =>
      view.hunks.map(hunk => ({ view, ...hunk }))
    );
  }

  private _setAside(view: IProposalView | null): void {
    if (view) {
      this._halves.add(view);
    }
  }

  private _isCurrent(view: IProposalView, id: number): boolean {
    return view === this._pointed && view.current === id;
  }

  private _point(view: IProposalView, id: number, isQuiet = false): void {
    const before = this._pointed;
    this._pointed = view;
    if (before && before !== view && !before.isDisposed) {
      before.point(-1);
    }
    view.point(id, isQuiet);
    this._listener.changed();
  }

  /** Notify of what is decided and was not notified; with `isOver` nothing more will be. */
  private _notifyDecided(isOver: boolean): void {
    const all = this._latest?.proposals ?? [];
    for (const proposal of this._isComplete ? all : []) {
      const key = keyOf(proposal, all);
      const view = this._byKey.get(key);
      if (!view || view.isDisposed) {
        continue;
      }
      if (this._notified.has(view) || this._halves.has(view)) {
        continue;
      }
      const { outcome, rejected } = view;
      if (outcome && (isOver || !view.hunks.length)) {
        this._notified.add(view);
        this._listener.decided({ proposal, outcome, key });
      } else if (rejected.length > (this._rejected.get(view) ?? 0)) {
        this._rejected.set(view, rejected.length);
        this._listener.rejected(proposal, key, rejected);
      }
    }
  }

  private _onView(): void {
    if (!this._isDisposed) {
      this._notifyDecided(false);
      this._listener.changed();
    }
  }

  private _pointed: IProposalView | null = null;
  private readonly _byKey = new Map<string, IProposalView | null>();
  /** What was shown before of those that are to be shown again. */
  private readonly _former = new Map<string, IProposalView>();
  private readonly _done = new Set<string>();
  private readonly _notified = new Set<IProposalView>();
  /** How many rejected hunks were notified. */
  private readonly _rejected = new Map<IProposalView, number>();
  private readonly _halves = new Set<IProposalView>();
  private _latest: { proposals: readonly IProposal[]; isOver: boolean } | null =
    null;
  private _isHidden = false;
  private _isQuiet = false;
  private _isShowing = false;
  private _isComplete = false;
  private _isDisposed = false;
}

/** New cells behind the same cell are distinguished by their order. */
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

/** Whether two proposals put the same text in the same place. */
export function isSame(one: IProposal, other: IProposal): boolean {
  return (
    one.source === other.source &&
    one.target.kind === other.target.kind &&
    nameOf(one.target) === nameOf(other.target)
  );
}

/** Whether two proposals are for the one text of a cell or a file, which can show only one. */
export function isForText(
  { target }: IProposal,
  { target: other }: IProposal
): boolean {
  return (
    (target.kind === 'cell' || target.kind === 'file') &&
    target.kind === other.kind &&
    nameOf(target) === nameOf(other)
  );
}
