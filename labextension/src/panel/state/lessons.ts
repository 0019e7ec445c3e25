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

/** "Start", "Go on with lesson 3", or "Open again" when all are done. */
export function startWords(tutorial: Tutorial): string {
  const { done, total } = progressOf(tutorial);
  if (done === total) {
    return 'Open again';
  }
  return done > 0 || tutorial.notebook
    ? `Go on with lesson ${nextLesson(tutorial)}`
    : 'Start';
}

/** Which tutorial and lesson is shown, as the page remembers it: `pandas-basics#2`. */
export function placeText(id: string, lesson: number): string {
  return `${id}#${lesson}`;
}

export function parsePlace(
  text: string
): { id: string; lesson?: number } | null {
  const [id, lesson] = text.split('#');
  return id ? { id, lesson: Number(lesson) || undefined } : null;
}
