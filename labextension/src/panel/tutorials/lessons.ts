import { Tutorial } from '../../api/types';

/** How far a tutorial is. */
export interface IProgress {
  done: number;
  total: number;
}

export function progressOf({ lessons }: Tutorial): IProgress {
  return {
    done: lessons.filter(({ done }) => done).length,
    total: lessons.length
  };
}

/** The lesson to go on with: the first that is not done, else the last. */
export function nextLesson({ lessons }: Tutorial): number {
  return lessons.find(({ done }) => !done)?.number ?? lessons.length;
}

/** "Start", "Continue with lesson 3", or "Open again" when all are done. */
export function startLabel(tutorial: Tutorial): string {
  const { done, total } = progressOf(tutorial);
  if (done === total) {
    return 'Open again';
  }
  return done > 0 || tutorial.notebook
    ? `Continue with lesson ${nextLesson(tutorial)}`
    : 'Start';
}

/**
 * Which tutorial and lesson is shown, as the page remembers it, and the session in which it was
 * opened, where there was one: `pandas-basics#2#ses_1`.
 */
export function placeText(
  id: string,
  lesson: number,
  sessionId?: string | null
): string {
  return [id, lesson, ...(sessionId ? [sessionId] : [])].join('#');
}

export function parsePlace(
  text: string
): { id: string; lesson?: number; sessionId?: string } | null {
  const [id, lesson, sessionId] = text.split('#');
  return id ? { id, lesson: Number(lesson) || undefined, sessionId } : null;
}
