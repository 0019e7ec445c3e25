import { FinalReply } from '../api/types';
import { isShownAlready } from './services';
import { Entry, INoticeEntry, ITurn } from './turn';
import { append } from './turnEntries';

/** The code of the line that says what of a turn was not done. */
export const NOT_DONE = 'not_done';

/** The codes of warnings that say why the answer above them is not whole. */
const INCOMPLETE: readonly string[] = [
  'max_output_tokens',
  'content_filter',
  'refusal',
  'repetition',
  'connection_lost',
  'size_limit'
] satisfies readonly NonNullable<FinalReply['incomplete']>['reason'][];

/** What says why the turn's answer is not whole; undefined where it is. */
export function incompleteNotice({ entries }: ITurn): INoticeEntry | undefined {
  return entries
    .filter((entry): entry is INoticeEntry => entry.kind === 'notice')
    .find(({ code }) => INCOMPLETE.includes(code));
}

/** Whether there may be more of the turn's answer, which the model can be asked for. */
export function mayGoOn(turn: ITurn): boolean {
  const code = incompleteNotice(turn)?.code;
  return code === 'max_output_tokens' || code === 'connection_lost';
}

/** The end of the answer, under a line that says what was not done, whatever the answer says. */
export function replied(turn: ITurn, event: FinalReply): ITurn {
  const next = { ...answered(turn, event), facts: event.facts };
  if (!event.notDone) {
    return next;
  }
  const texts = next.entries.filter(
    entry => entry.kind === 'text' && entry.text.trim()
  );
  const answer = texts[texts.length - 1];
  const at = answer ? next.entries.indexOf(answer) : next.entries.length;
  const entries = next.entries.slice();
  entries.splice(at, 0, notDoneNotice(event.notDone, event.seq));
  return { ...next, entries };
}

/** The line above an answer that says what of its turn did not come about. */
export function notDoneNotice(
  { message }: NonNullable<FinalReply['notDone']>,
  seq: number
): Entry {
  return {
    kind: 'notice',
    id: `not-done-${seq}`,
    level: 'warning',
    code: NOT_DONE,
    message,
    retryable: false
  };
}

/** The whole answer: shown where no stream showed it before. */
function answered(turn: ITurn, event: FinalReply): ITurn {
  const last = turn.entries
    .filter(entry => entry.kind === 'text')
    .map(entry => (entry.kind === 'text' ? entry.text : ''))
    .pop();
  if (
    !event.text.trim() ||
    last?.trim() === event.text.trim() ||
    isShownAlready(turn, event.text)
  ) {
    return turn;
  }
  const all = turn.entries
    .map(entry => (entry.kind === 'text' ? entry.text : ''))
    .join('');
  if (all.trim() === event.text.trim()) {
    return turn;
  }
  // The summary of a plan comes behind the last words of the model, which are there already.
  const shown = last?.trim() ?? '';
  const text =
    shown && event.text.startsWith(`${shown}\n`)
      ? event.text.slice(shown.length).trimStart()
      : event.text;
  return append(turn, { kind: 'text', id: `reply-${event.seq}`, text });
}
