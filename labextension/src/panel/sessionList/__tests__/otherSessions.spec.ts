import { PanelModel } from '../../model';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory
} from '../../__tests__/fakes';

async function opened() {
  const connection = new FakeConnection();
  const client = new FakeClient();
  const editor = new FakeEditor();
  const memory = new FakeMemory();
  const model = new PanelModel({ client, connection, editor, memory });
  await client.createSession({ title: 'Shown' });
  await model.sessions.open('ses_1');
  return { model, connection };
}

describe('other sessions that wait', () => {
  it('is what waits in sessions that are not shown', async () => {
    const { model, connection } = await opened();
    const onChanged = jest.fn();
    model.otherSessions.subscribe(onChanged);
    const wait = (...ids: string[]) => {
      connection.waiting = ids.map(id => ({ sessionId: id, title: id }));
      connection.waitingChanged.emit();
    };
    const ids = () => model.otherSessions.current.map(each => each.sessionId);
    wait('ses_1');
    expect(onChanged).not.toHaveBeenCalled();
    wait('ses_2', 'ses_1');
    expect(ids()).toEqual(['ses_2']);
    await model.sessions.open('ses_2');
    expect(ids()).toEqual(['ses_1']);
    model.sessions.startNew();
    expect(ids()).toEqual(['ses_2', 'ses_1']);
    wait();
    expect(ids()).toEqual([]);
  });
});

describe('an op that is refused', () => {
  const refusal = (opId: string, message: string) =>
    ({
      type: 'error',
      code: 'turn_in_progress',
      message,
      retryable: false,
      opId
    }) as const;

  it('is shown where it was asked for, and not to every page', async () => {
    const { model, connection } = await opened();
    model.changes.undo('trn_1');
    await Promise.resolve();
    connection.emit('ses_1', refusal('op_of_a_cell', 'Not yours.'));
    expect(model.notice.current).toBeNull();
    expect(model.changes.deciding.current).toBe('trn_1');
    connection.emit('ses_1', refusal('op_1', 'A turn is running.'));
    expect(model.notice.current?.message).toBe('A turn is running.');
    expect(model.changes.deciding.current).toBeNull();
  });

  it('is shown everywhere where it is a message that waited, which all saw', async () => {
    const { model, connection } = await opened();
    connection.emit('ses_1', { type: 'op_queued', opId: 'op_x', message: 'x' });
    connection.emit('ses_1', refusal('op_x', 'x.csv does not exist.'));
    expect(model.notice.current?.message).toBe('x.csv does not exist.');
  });
});
