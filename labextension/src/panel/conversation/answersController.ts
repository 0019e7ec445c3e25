import { ModelsReply, Op } from '../../api/types';
import { readyModels } from '../composer/models';
import { ConversationStore } from '../../session/store';
import { ITurn } from '../../session/turn';

/** Asks other models what was asked, and says which of a turn's answers counts. */
export class AnswersController {
  constructor(
    private readonly _submitOp: (op: Op) => Promise<void>,
    private readonly _reportError: (error: unknown) => void
  ) {}

  ask(turnId: string, model: string): void {
    this._submit({ type: 'ask_again', turnId, model });
  }

  /** Continue from a further answer; without one, from the first. */
  choose(turnId: string, answerId?: string): void {
    this._submit({ type: 'choose_answer', turnId, answerId });
  }

  /** Stop the answer that is being given. */
  stop(): void {
    this._submit({ type: 'interrupt', hold: true });
  }

  private _submit(op: Op): void {
    this._submitOp(op).catch(this._reportError);
  }
}

/** Whether the conversation stands at this turn: nothing came after it, and nothing runs. */
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
    turn.status === 'completed' &&
    !turn.workflow &&
    !turn.plan?.state &&
    turn.entries.some(({ kind }) => kind === 'text') &&
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
  const first = turn.model ?? reply.default;
  const unready = reply.models.some(
    ({ id, ready }) => id === current && !ready
  );
  const ids = readyModels(reply).map(({ id }) => id);
  const all = new Set(current && !unready ? [current, ...ids] : ids);
  return [...all].filter(id => id !== first);
}

/** What a user calls a model. */
export function modelName(reply: ModelsReply | null, id: string): string {
  const info = reply?.models.find(model => model.id === id);
  return info?.label ?? (id.split('/').pop() || id);
}
