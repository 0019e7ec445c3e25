import { Change } from '../../api/types';
import { EventInput } from '../../panel/__tests__/fakes';
import { ConversationStore } from '../store';
import { STARTED, numbered } from './events';

const change = (path: string, cellId?: string): Change => ({
  path,
  op: 'update',
  cellId,
  before: 'old',
  after: 'new'
});
const CHANGED: EventInput = {
  type: 'document_changed',
  path: 'data/a.ipynb',
  changes: [change('data/a.ipynb', 'x'), change('database.txt')]
};
const STALE: EventInput = {
  type: 'cells_stale',
  path: 'data/a.ipynb',
  cellIds: ['x']
};
const renamed = (oldPath: string, path: string): EventInput => ({
  type: 'document_renamed',
  oldPath,
  path
});

function storeAfter(...events: EventInput[]): ConversationStore {
  const store = new ConversationStore();
  numbered([STARTED, ...events]).forEach(event => store.apply(event));
  return store;
}

const paths = (store: ConversationStore) =>
  store.open.current.flatMap(turn => turn.changes.map(({ path }) => path));

describe('a renamed document', () => {
  it('has its changes under the new path, and nothing else has', () => {
    const store = storeAfter(CHANGED, renamed('data', 'old data'));
    expect(paths(store)).toEqual(['old data/a.ipynb', 'database.txt']);
  });

  it('is followed through several renames, and a new one of the old name is another', () => {
    const store = storeAfter(
      CHANGED,
      STALE,
      renamed('data/a.ipynb', 'data/b.ipynb'),
      renamed('data/b.ipynb', 'c.ipynb'),
      CHANGED
    );
    expect(store.stale.current?.path).toBe('c.ipynb');
    expect(paths(store)).toEqual([
      'c.ipynb',
      'database.txt',
      'data/a.ipynb',
      'database.txt'
    ]);
  });

  it('stays what a decision was about', () => {
    const store = storeAfter(
      CHANGED,
      {
        type: 'changes_kept',
        ofTurnId: 'turn_1',
        cellIds: [],
        files: ['database.txt']
      },
      renamed('database.txt', 'notes.txt')
    );
    const [turn] = store.open.current;
    expect([...turn.decided.files]).toEqual(['notes.txt']);
  });

  it('is remembered by the session', () => {
    const store = storeAfter(
      {
        type: 'session_configured',
        settings: {
          notebook: 'data/a.ipynb',
          attachments: [{ kind: 'notebook', path: 'data/a.ipynb' }]
        }
      },
      renamed('data/a.ipynb', 'b.ipynb')
    );
    expect(store.conversation.current.settings).toEqual({
      notebook: 'b.ipynb',
      attachments: [{ kind: 'notebook', path: 'b.ipynb' }]
    });
  });
});
