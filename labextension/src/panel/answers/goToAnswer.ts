import { OWN_ANSWER } from './citations';

/** Bring an answer of the turn in which something stands into view, and put the focus on it. */
export function goToAnswer(from: HTMLElement, answerId: string): void {
  const turn = from.closest('article');
  const answer = turn?.querySelector<HTMLElement>(
    answerId === OWN_ANSWER
      ? '[data-role="assistant"]'
      : `[data-answer="${CSS.escape(answerId)}"]`
  );
  if (!answer) {
    return;
  }
  answer.tabIndex = -1;
  answer.focus({ preventScroll: true });
  answer.scrollIntoView({ block: 'nearest' });
}
