import { Turn } from '../../api/types';

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
    usage: {
      inputTokens: 10,
      outputTokens: 5,
      cachedTokens: 0,
      totalTokens: 15,
      sessionTokens: 15
    },
    ...fields
  };
}
