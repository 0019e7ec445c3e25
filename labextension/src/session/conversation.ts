import { Event, Session, SessionSettings } from '../api/types';
import { settingsAfter } from './renames';

/** A message that waits while a turn runs; one that is held, until the user sends it. */
export interface IQueued {
  opId: string;
  message: string;
  held?: boolean;
}

/** A session as the page shows it, without what is in its turns. */
export interface IConversation {
  title?: string;
  settings: SessionSettings;
  turnIds: readonly string[];
  queued: readonly IQueued[];
  /** Turns that the user went back to before: shown folded, and not sent any more. */
  withdrawn: ReadonlySet<string>;
  /** The session that this one began as a copy of. */
  forkedFrom?: Session['forkedFrom'];
  runningTurnId?: string;
}

/** A session in which nothing happened yet. */
export const EMPTY_CONVERSATION: IConversation = {
  settings: {},
  turnIds: [],
  queued: [],
  withdrawn: new Set()
};

/** The session after one more event; the same object for events inside a turn. */
export function reduceConversation(
  state: IConversation,
  event: Event
): IConversation {
  switch (event.type) {
    case 'session_configured':
      return {
        ...state,
        settings: event.settings,
        title: event.title ?? state.title
      };
    case 'document_renamed':
      return { ...state, settings: settingsAfter(state.settings, event) };
    case 'op_queued':
      return state.queued.some(op => op.opId === event.opId)
        ? state
        : {
            ...state,
            queued: [
              ...state.queued,
              { opId: event.opId, message: event.message ?? '' }
            ]
          };
    case 'op_held':
      return {
        ...state,
        queued: state.queued.map(op =>
          op.opId === event.opId ? { ...op, held: true } : op
        )
      };
    case 'op_dequeued':
      return dequeue(state, event.opId);
    case 'turn_started':
      return turnStarted(dequeue(state, event.opId), event.turnId);
    case 'turn_completed':
    case 'turn_aborted':
      return state.runningTurnId === event.turnId
        ? { ...state, runningTurnId: undefined }
        : state;
    case 'went_back':
      return {
        ...state,
        withdrawn: new Set([...state.withdrawn, ...event.withdrawn])
      };
    case 'session_reset':
      return {
        ...EMPTY_CONVERSATION,
        queued: state.queued,
        title: state.title,
        settings: state.settings
      };
    default:
      return state;
  }
}

function dequeue(state: IConversation, opId?: string): IConversation {
  return state.queued.some(op => op.opId === opId)
    ? { ...state, queued: state.queued.filter(op => op.opId !== opId) }
    : state;
}

function turnStarted(state: IConversation, turnId?: string): IConversation {
  if (!turnId) {
    return state;
  }
  return {
    ...state,
    runningTurnId: turnId,
    turnIds: state.turnIds.includes(turnId)
      ? state.turnIds
      : [...state.turnIds, turnId]
  };
}
