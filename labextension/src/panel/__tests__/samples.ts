import { Turn, Tutorial } from '../../api/types';

/** A turn of the history, with what a test sets. */
export function turnRecord(fields: Partial<Turn> & { id: string }): Turn {
  return {
    sessionId: 'ses_1',
    index: 0,
    status: 'completed',
    mode: 'ask',
    notebookMode: 'off',
    location: 'panel',
    message: 'Hello',
    reply: 'Hi',
    startedAt: 1000,
    endedAt: 3000,
    firstSeq: 1,
    lastSeq: 4,
    items: [],
    toolCalls: [],
    changes: [],
    answers: [],
    usage: {
      inputTokens: 10,
      outputTokens: 5,
      cachedTokens: 0,
      totalTokens: 15,
      sessionTokens: 15,
      estimated: false
    },
    ...fields
  };
}

/** A tutorial of two lessons, none of them done, that was not started. */
export function tutorial(id: string): Tutorial {
  const lesson = (number: number) => ({
    number,
    title: `Lesson ${number}`,
    explanation: 'Why.',
    starterCode: 'x = ...',
    task: `Do ${number}.`,
    expectedOutput: '1',
    hint: 'Look again.',
    done: false
  });
  return {
    id,
    title: 'Pandas basics',
    description: 'Tables.',
    lessons: [lesson(1), lesson(2)]
  };
}
