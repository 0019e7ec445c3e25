import { CodeCell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';

import { messageOf } from '../api/errors';
import {
  ActsReply,
  CellFix,
  CodeChange,
  FixAttempt,
  FixChange,
  TriedFix
} from '../api/types';
import { sharedNotebook } from '../notebook/cells';
import type { InlineModel } from '../inline/model';
import { failureOf } from '../notebook/kernel/failure';
import { IProposal } from '../proposals';
import { onUserActivity, onUserTyping } from '../notebook/userActivity';
import { runFor } from './run';

/** What fixing a cell needs. */
export interface IFixRunnerOptions {
  panel: NotebookPanel;
  cell: CodeCell;
  /** The chat on the cell, in which the fix is shown. */
  chat: InlineModel;
  /** What the server would try next, after these. */
  next: (tried: TriedFix[]) => Promise<FixAttempt>;
  /** What changed code would do beyond the kernel that it did not do before, as text. */
  acts: (changes: CodeChange[]) => Promise<ActsReply>;
}

/** What was tried last. */
interface IAttempt {
  /** A label for users. */
  title: string;
  /** What was done, once it is. */
  done: string;
  /** Known without a model; null where the model proposed. */
  known: CellFix | null;
  /** Why the user should look at it before it is run; null where nothing speaks against it. */
  caution: string | null;
}

/**
 * The fix of one cell. What is tried, in which order and how often is the server's; the page shows
 * it as a diff and reports what was done. Writing and running are the page's because they are the
 * user's own here: in the editor that is open, with its undo, in its kernel, stopped by Escape.
 */
export class FixRunner {
  constructor(private readonly _options: IFixRunnerOptions) {}

  /** Propose a fix; with `andRun` go on until the cell runs. */
  async start(andRun: boolean): Promise<void> {
    const { chat } = this._options;
    chat.state.patch({
      run: { label: 'Fix and run', act: () => void this._run(true) }
    });
    await this._guarded(andRun, async isStopped => {
      await this._propose();
      if (andRun && !isStopped()) {
        await this._goOn(false, isStopped);
      }
    });
  }

  private _run(isLookedAt: boolean): Promise<void> {
    return this._guarded(true, isStopped => this._goOn(isLookedAt, isStopped));
  }

  /** Accept what is proposed, run, and propose the next one, until it is over. */
  private async _goOn(
    isLookedAt: boolean,
    isStopped: () => boolean
  ): Promise<void> {
    const { chat } = this._options;
    for (;;) {
      const attempt = await this._latest();
      if (!attempt) {
        return; // The chat says why there is none.
      }
      if (attempt.caution && !isLookedAt) {
        chat.state.patch({ note: attempt.caution });
        return;
      }
      isLookedAt = false;
      const end = await this._carryOut(attempt);
      if (end !== 'failed' || isStopped()) {
        return;
      }
      await this._propose();
      if (isStopped()) {
        return;
      }
    }
  }

  /** Show what the server would try next: a fix that it knows, or else the model's. */
  private async _propose(): Promise<void> {
    const { cell, chat, next } = this._options;
    this._attempt = null;
    chat.busy(
      `Fix ${failureOf(cell.model)?.name ?? 'the error'}`,
      'Looking for a fix'
    );
    const { fixes, maxAttempts, message, prompt } = await next(this._tried);
    this._maxAttempts = maxAttempts;
    if (chat.isDisposed) {
      return;
    }
    if (fixes.length) {
      await this._show(fixes[0], fixes);
    } else if (prompt) {
      await chat.send(prompt);
      await chat.settled();
      if (!(await this._latest())) {
        // What is said in place of a fix is in the box.
        chat.state.patch({ run: null });
      }
    } else {
      chat.state.patch({
        activity: null,
        run: null,
        notice: message ?? null
      });
    }
  }

  /** Show a fix that is known, with the others to choose from. */
  private async _show(known: CellFix, all: readonly CellFix[]): Promise<void> {
    const { chat } = this._options;
    const { changes, fix } = known;
    await chat.offer(changes.map(asProposal), fix.title);
    this._attempt = {
      title: fix.title,
      done: fix.done ?? fix.title,
      known,
      caution: fix.safe ? null : `Review before running. ${fix.explanation}`
    };
    const also = changes.length ? '' : ' No changes.';
    chat.state.patch({
      notice: null,
      note: `${fix.explanation}${also}`,
      others: all
        .filter(other => other !== known)
        .map(other => ({
          label: other.fix.title,
          act: () => void this._show(other, all)
        }))
    });
  }

  /** What is proposed now: the fix that is known, or what the model has proposed since. */
  private async _latest(): Promise<IAttempt | null> {
    const { chat } = this._options;
    const { asked, pending } = chat.state.current;
    if (this._attempt?.title === asked) {
      return this._attempt;
    }
    return pending.count && pending.isComplete
      ? {
          title: "Apply the model's fix",
          done: "applied the model's fix",
          known: null,
          caution: await this._doubt()
        }
      : null;
  }

  /** Why what the model has proposed is not run unseen. */
  private async _doubt(): Promise<string | null> {
    const { acts, chat, panel } = this._options;
    const { cells } = sharedNotebook(panel);
    const changes = chat.proposals.shown.map(({ target, source }) => ({
      before:
        (target.kind === 'cell' &&
          cells.find(cell => cell.getId() === target.cellId)?.getSource()) ||
        '',
      after: source
    }));
    try {
      const { reason } = await acts(changes);
      return reason ? `Review before running. ${reason}.` : null;
    } catch {
      return 'Review before running: the server could not check it.';
    }
  }

  private async _carryOut(attempt: IAttempt): Promise<string> {
    const { cell, chat, panel } = this._options;
    const { title, done, known } = attempt;
    const written = chat.state.current.pending.count
      ? chat.proposals.take(true)
      : [];
    if (!written) {
      return 'not run';
    }
    this._tried.push({ key: known?.key, done });
    this._written.push(written);
    const count = `${this._tried.length} of ${this._maxAttempts}`;
    const of = `Attempt ${count}`;
    chat.busy(title, `${of}: running`);
    const order = this._order(known, written);
    const end = await runFor(panel, cell, order, interrupt => {
      this._interrupt = interrupt;
    }).finally(() => {
      this._interrupt = null;
    });
    this._attempt = null;
    const said = {
      ok: `Fixed: ${done} (attempt ${count})${this._earlier()}`,
      failed: `${of} did not help: ${done}`,
      interrupted: `Interrupted. ${of}: ${done}`,
      'not run': `The cell was not run: an earlier cell failed. ${of}: ${done}`
    };
    if (chat.isDisposed) {
      return end;
    }
    chat.state.patch({ activity: null, note: said[end] });
    if (end !== 'failed') {
      chat.state.patch({ run: null, others: [] });
    }
    if (end === 'ok' && this._tried.length === 1) {
      this._closeLater();
    }
    return end;
  }

  /** There is nothing left to decide: the result goes with whatever the user does next. */
  private _closeLater(): void {
    const { chat, panel } = this._options;
    chat.finish();
    const going = onUserActivity(panel, () => {
      going.dispose();
      if (chat.state.current.isDone) {
        chat.close(false);
      }
    });
  }

  /** What was tried before the attempt that helped, as some of it may still are in cells. */
  private _earlier(): string {
    const before = this._tried.slice(0, -1).map(({ done }, index) => {
      return `. Attempt ${index + 1} did not help${this._left(index)}: ${done}`;
    });
    return before.join('');
  }

  /** What is left of what an attempt wrote; cells that it shares with later ones are not compared. */
  private _left(index: number): string {
    const written = this._written[index];
    if (!written.length) {
      return '';
    }
    const later = new Set(this._written.slice(index + 1).flat());
    return written.some(cellId => later.has(cellId))
      ? ', and its changes remain where a later attempt did not replace them'
      : ', and its changes remain';
  }

  /** What is run: new cells first, or as the notebook has them where the model proposed. */
  private _order(
    known: CellFix | null,
    written: readonly string[]
  ): readonly string[] {
    const { cell, panel } = this._options;
    if (known) {
      const before = written.filter(cellId => !known.runs.includes(cellId));
      const last = known.runs.includes(cell.model.id) ? [] : [cell.model.id];
      return [...before, ...known.runs, ...last];
    }
    const all = new Set([...written, cell.model.id]);
    return sharedNotebook(panel)
      .cells.map(each => each.getId())
      .filter(cellId => all.has(cellId));
  }

  /** Stop as soon as the user stops it; with `isRunning` also when they type. */
  private async _guarded(
    isRunning: boolean,
    act: (isStopped: () => boolean) => Promise<void>
  ): Promise<void> {
    const { chat, panel } = this._options;
    let isStopped = false;
    let isTyping = false;
    const onTyping = (event: Event) => {
      // Who goes on elsewhere lets run what runs; Escape is said to what runs.
      isTyping = !(event instanceof KeyboardEvent && event.key === 'Escape');
      if (!isStopped || !isTyping) {
        chat.stop();
      }
      isTyping = false;
    };
    const typing = isRunning ? onUserTyping(panel.node, onTyping) : null;
    const onStopped = () => {
      isStopped = true;
      if (!isTyping) {
        this._interrupt?.();
      }
    };
    chat.stopped.connect(onStopped);
    try {
      await act(() => isStopped || chat.isDisposed);
    } catch (error) {
      // What the server or the kernel refuses is shown where the fix was asked for.
      if (!chat.isDisposed) {
        chat.state.patch({
          activity: null,
          notice: messageOf(error)
        });
      }
    } finally {
      typing?.dispose();
      chat.stopped.disconnect(onStopped);
    }
    if (isStopped && !chat.isDisposed) {
      const count = this._tried.length;
      chat.state.patch({
        activity: null,
        note: count
          ? `Stopped in attempt ${count} of ${this._maxAttempts}.`
          : 'Stopped.'
      });
    }
  }

  private _attempt: IAttempt | null = null;
  /** Interrupts what runs; null while nothing does. */
  private _interrupt: (() => void) | null = null;
  private readonly _tried: TriedFix[] = [];
  private _maxAttempts = 0;
  /** The ids of the cells that each of them wrote. */
  private readonly _written: (readonly string[])[] = [];
}

function asProposal({ kind, cellId, source }: FixChange): IProposal {
  return { target: { kind, cellId }, language: '', source, isComplete: true };
}
