import { Event } from '../api/types';
import { IAnswer, ITurn } from './turn';

/** The text of a further answer as far as it is known: Markdown. */
export function textOf(answer: IAnswer): string {
  return answer.parts.map(({ text }) => text).join('');
}

/** A turn after an event about further answers to its message. */
export function reduceAnswers(turn: ITurn, event: Event): ITurn {
  switch (event.type) {
    case 'answer_started':
      return withAnswer(turn, event.answerId, event.model, answer => answer);
    case 'answer_delta':
      return withAnswer(turn, event.answerId, '', answer => ({
        ...answer,
        parts: grown(answer.parts, event.itemId, event.delta)
      }));
    case 'answer_finished':
      return withAnswer(turn, event.answerId, event.model, answer => ({
        ...answer,
        parts: event.text
          ? [{ id: event.answerId, text: event.text }]
          : answer.parts,
        status: event.status,
        message: event.message,
        usage: event.usage,
        provenance: event.provenance
      }));
    case 'answer_chosen':
      return { ...turn, chosen: event.answerId };
    case 'item_discarded':
      return withoutPart(turn, event.itemId);
    default:
      return turn;
  }
}

function withAnswer(
  turn: ITurn,
  id: string,
  model: string,
  change: (answer: IAnswer) => IAnswer
): ITurn {
  const known = turn.answers.some(answer => answer.id === id);
  const answers: readonly IAnswer[] = known
    ? turn.answers
    : [...turn.answers, { id, model, parts: [], status: 'running' }];
  return {
    ...turn,
    answers: answers.map(answer => (answer.id === id ? change(answer) : answer))
  };
}

function grown(
  parts: IAnswer['parts'],
  id: string,
  delta: string
): IAnswer['parts'] {
  return parts.some(part => part.id === id)
    ? parts.map(part =>
        part.id === id ? { id, text: part.text + delta } : part
      )
    : [...parts, { id, text: delta }];
}

/** A stream that broke is asked for once more: what it had shown is reverted. */
function withoutPart(turn: ITurn, id: string): ITurn {
  if (!turn.answers.some(({ parts }) => parts.some(part => part.id === id))) {
    return turn;
  }
  return {
    ...turn,
    answers: turn.answers.map(answer => ({
      ...answer,
      parts: answer.parts.filter(part => part.id !== id)
    }))
  };
}
