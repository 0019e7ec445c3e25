import { ModelsReply, Op } from '../../api/types';
import { readyModels } from '../composer/models';
import { ConversationStore } from '../../session/store';
import { IAnswer, ITurn } from '../../session/turn';

/** Asks other models what was asked, and says which of a turn's answers counts. */
export class AnswersController {
  constructor(
    private readonly _submitOp: (op: Op) => Promise<void>,
    private readonly _reportError: (error: unknown) => void
  ) {}

  ask(turnId: string, models: readonly string[]): void {
    this._submit({ type: 'ask_again', turnId, models: [...models] });
  }

  /** Have the session's model write where the answers agree and differ. */
  synthesise(turnId: string): void {
    this._submit({ type: 'synthesise', turnId });
  }

  /** Continue from a further answer; without one, from the first. */
  choose(turnId: string, answerId?: string): void {
    this._submit({ type: 'choose_answer', turnId, answerId });
  }

  /** Stop the answers that are being given, or only this one. */
  stop(answerId?: string): void {
    this._submit(
      answerId
        ? { type: 'interrupt', answerId }
        : { type: 'interrupt', hold: true }
    );
  }

  private _submit(op: Op): void {
    this._submitOp(op).catch(this._reportError);
  }
}

/** Whether the conversation is at this turn: nothing came after it, and nothing runs. */
export function isLast(store: ConversationStore, turn: ITurn): boolean {
  const { turnIds, withdrawn, runningTurnId } = store.conversation.current;
  const sent = turnIds.filter(id => !withdrawn.has(id));
  return !runningTurnId && sent[sent.length - 1] === turn.id;
}

/**
 * Whether another model may be asked what this turn asked: it is the newest one. After going back
 * to an older turn, what was sent with that one is not kept any more.
 */
export function canAskAgain(store: ConversationStore, turn: ITurn): boolean {
  const { turnIds } = store.conversation.current;
  return (
    isLast(store, turn) &&
    turnIds[turnIds.length - 1] === turn.id &&
    turn.status !== 'running' &&
    (!!turn.compare || hasOwnAnswer(turn)) &&
    !turn.answers.some(({ status }) => status === 'running')
  );
}

/** Whether the turn has a complete answer of its own, and not of several models. */
export function hasOwnAnswer(turn: ITurn): boolean {
  return (
    turn.status === 'completed' &&
    !turn.compare &&
    !turn.workflow &&
    !turn.plan?.state &&
    turn.entries.some(({ kind }) => kind === 'text')
  );
}

/** The complete answers of other models, without syntheses. */
export function completeAnswers(turn: ITurn): IAnswer[] {
  return turn.answers.filter(
    ({ status, sources }) => status === 'completed' && !sources
  );
}

/** Whether where the answers agree and differ can be written now. */
export function canSynthesise(store: ConversationStore, turn: ITurn): boolean {
  const own = hasOwnAnswer(turn) ? 1 : 0;
  return (
    isLast(store, turn) &&
    own + completeAnswers(turn).length >= 2 &&
    !turn.answers.some(({ status }) => status === 'running')
  );
}

/**
 * The models that could be asked, other than the one that answered; first the one that the next
 * message goes to, which the server need not list.
 */
export function otherModels(
  reply: ModelsReply | null,
  turn: ITurn,
  current?: string
): string[] {
  if (!reply || reply.locked) {
    return [];
  }
  const first = turn.compare ? undefined : (turn.model ?? reply.default);
  const unready = reply.models.some(
    ({ id, ready }) => id === current && !ready
  );
  const ids = readyModels(reply).map(({ id }) => id);
  const all = new Set(current && !unready ? [current, ...ids] : ids);
  const asked = new Set(turn.compare ? turn.answers.map(a => a.model) : []);
  return [...all].filter(id => id !== first && !asked.has(id));
}

/** What a user calls a model. */
export function modelName(reply: ModelsReply | null, id: string): string {
  const info = reply?.models.find(model => model.id === id);
  return info?.label ?? (id.split('/').pop() || id);
}
