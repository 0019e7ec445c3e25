import { Event, ToolCallRecord, Turn } from '../api/types';
import {
  EMPTY_CONVERSATION,
  IConversation,
  reduceConversation
} from './conversation';
import { notDoneNotice } from './finalReply';
import { reduceTurn } from './reduceTurn';
import { turnAfter } from './renames';
import { settled } from './turnEntries';
import { openChanges } from './reduceDecided';
import { IToolEntry, ITurn, emptyTurn } from './turn';
import { IProposals, NO_PROPOSALS, proposalsIn } from './services';
import { IStale, staleAfter } from './stale';
import { FrameObservable, IReadable, Observable } from './observable';

/** The events after which another turn may be to be decided about. */
const MARKS: ReadonlySet<Event['type']> = new Set([
  'turn_started',
  'document_changed',
  'document_renamed',
  'changes_kept',
  'changes_undone',
  'plan_updated',
  'action_proposed',
  'action_finished',
  'went_back'
]);

/**
 * The state of one session in the page, built from its events alone.
 *
 * Every turn has a store of its own, so that a piece of text touches one turn, not the list.
 */
export class ConversationStore {
  /** The order of the turns, the queue, the title. */
  readonly conversation = new Observable<IConversation>(EMPTY_CONVERSATION);

  /** The turns with changes that nobody has decided on, the newest first. */
  readonly open = new Observable<readonly ITurn[]>([]);

  /** The newest turn with changes that nobody has decided on. */
  readonly undecided = new Observable<string | undefined>(undefined);

  /** The newest turn with a plan that the server carries out. */
  readonly planned = new Observable<string | undefined>(undefined);

  /** Actions that were proposed. */
  readonly proposals = new Observable<IProposals>(NO_PROPOSALS);

  /** How often older turns were summed up, or left out, while the page listened. */
  readonly compactions = new Observable(0);

  /** Cells whose outputs are older than their code, as was reported while the page listened. */
  readonly stale = new Observable<IStale | null>(null);

  /** The number of the newest event that was taken in. */
  get lastSeq(): number {
    return this._lastSeq;
  }

  /** A turn's store; made empty where the turn is not known yet. */
  turn(id: string): IReadable<ITurn> {
    return this._turn(id);
  }

  /** Take in a live event; one that was seen before changes nothing. */
  apply(event: Event): void {
    // Number 0: the server could not write it, and will not send it again.
    if (event.seq !== 0 && event.seq <= this._lastSeq) {
      return;
    }
    this._lastSeq = Math.max(this._lastSeq, event.seq);
    this._reduce(event);
  }

  /** Put older turns, in order, before those that are there. */
  prepend(turns: readonly Turn[]): void {
    const { current } = this.conversation;
    const known = new Set(current.turnIds);
    const older = turns.filter(turn => !known.has(turn.id));
    for (const turn of older) {
      this._turn(turn.id).set(fromHistory(turn));
    }
    this.conversation.patch({
      turnIds: [...older.map(turn => turn.id), ...current.turnIds],
      withdrawn: withdrawnWith(current.withdrawn, older)
    });
    this._look();
  }

  /** Put newer turns, in order, after those that are there. */
  append(turns: readonly Turn[]): void {
    const { current } = this.conversation;
    const known = new Set(current.turnIds);
    const newer = turns.filter(turn => !known.has(turn.id));
    for (const turn of newer) {
      this._turn(turn.id).set(fromHistory(turn));
    }
    this.conversation.patch({
      turnIds: [...current.turnIds, ...newer.map(turn => turn.id)],
      withdrawn: withdrawnWith(current.withdrawn, newer)
    });
    this._look();
  }

  /** Expect events after `seq`, since everything up to it is here already. */
  resumeAfter(seq: number): void {
    this._lastSeq = Math.max(this._lastSeq, seq);
  }

  /** Forget a turn that runs, and expect its events, from the first of them, once more. */
  expectAgain({ id, firstSeq }: Turn): void {
    this._turns.delete(id);
    this._lastSeq = firstSeq - 1;
  }

  private _reduce(event: Event): void {
    this.conversation.set(reduceConversation(this.conversation.current, event));
    if (event.type === 'session_reset') {
      this._turns.clear();
      this._look();
    }
    if (event.type === 'document_renamed') {
      for (const turn of this._turns.values()) {
        turn.set(turnAfter(turn.current, event));
      }
    }
    if (event.type === 'context_compacted') {
      this.compactions.set(this.compactions.current + 1);
    }
    const { turnIds } = this.conversation.current;
    // What a user asked for between two turns is at the end of the one before.
    const turnId =
      event.turnId ??
      (event.type === 'context_compacted'
        ? turnIds[turnIds.length - 1]
        : undefined);
    if (turnId) {
      const turn = this._turn(turnId);
      turn.set(reduceTurn(turn.current, event));
    }
    if (MARKS.has(event.type)) {
      this._look();
    }
    this.stale.set(staleAfter(this.stale.current, event));
  }

  /** Whether the newest turn proposes an action, which a reply may change. */
  get hasOpenProposal(): boolean {
    const { turnIds, withdrawn } = this.conversation.current;
    const newest = turnIds.filter(id => !withdrawn.has(id)).pop();
    const turn = newest ? this._turn(newest).current : null;
    return (
      !turn?.plan && !!turn?.entries.some(({ kind }) => kind === 'proposal')
    );
  }

  /** Find the turns that something is to be decided about, the newest first. */
  private _look(): void {
    const { turnIds, withdrawn } = this.conversation.current;
    const turns = turnIds.map(id => this._turn(id).current).reverse();
    const open = turns.filter(turn => openChanges(turn).length > 0);
    this.undecided.set(open[0]?.id);
    this.planned.set(turns.find(turn => !!turn.plan?.state)?.id);
    this.proposals.set(
      proposalsIn(turns.filter(({ id }) => !withdrawn.has(id)).reverse())
    );
    if (open.length || this.open.current.length) {
      this.open.set(open);
    }
  }

  private _turn(id: string): Observable<ITurn> {
    let turn = this._turns.get(id);
    if (!turn) {
      turn = new FrameObservable(emptyTurn(id));
      this._turns.set(id, turn);
    }
    return turn;
  }

  private _lastSeq = 0;
  private _turns = new Map<string, Observable<ITurn>>();
}

function withdrawnWith(
  known: ReadonlySet<string>,
  turns: readonly Turn[]
): ReadonlySet<string> {
  const more = turns.filter(turn => turn.withdrawnAt !== undefined);
  return more.length ? new Set([...known, ...more.map(({ id }) => id)]) : known;
}

/** A turn of the history, drawn from its events, or from its record where it has none. */
export function fromHistory(record: Turn): ITurn {
  const events = (record.events ?? []) as unknown as Event[];
  const base: ITurn = {
    ...emptyTurn(record.id),
    message: record.message,
    mode: record.mode,
    notebookMode: record.notebookMode,
    model: record.model,
    compare: record.compare,
    startedAt: record.startedAt,
    usage: record.usage
  };
  const turn = events.length
    ? events.reduce(reduceTurn, base)
    : fromRecord(base, record);
  if (turn.status !== 'running' || record.status === 'running') {
    return turn;
  }
  return {
    ...settled(turn),
    status: record.status === 'completed' ? 'completed' : 'aborted',
    abortReason: record.status === 'failed' ? 'error' : 'shutdown',
    durationMs: record.durationMs ?? undefined
  };
}

function callOf(call: ToolCallRecord, startedAt: number): IToolEntry {
  return {
    kind: 'tool',
    id: call.callId,
    name: call.name,
    arguments: call.arguments,
    status: call.status,
    startedAt,
    durationMs: call.durationMs,
    output: call.output,
    changes: []
  };
}

function fromRecord(turn: ITurn, record: Turn): ITurn {
  const calls = record.toolCalls.map(call => callOf(call, record.startedAt));
  const notice = record.notDone ? [notDoneNotice(record.notDone, 0)] : [];
  const reply = { kind: 'text' as const, id: 'reply', text: record.reply };
  return {
    ...turn,
    changes: record.changes,
    entries: record.reply ? [...calls, ...notice, reply] : calls,
    facts: record.facts,
    answers: record.answers.map(({ answerId, text, toolCalls, ...answer }) => ({
      ...answer,
      calls: toolCalls.map(call => callOf(call, answer.createdAt)),
      id: answerId,
      parts: [{ id: answerId, text }],
      status: 'completed' as const
    })),
    chosen: record.chosenAnswer
  };
}
