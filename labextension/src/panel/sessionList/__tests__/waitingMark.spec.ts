import { Widget } from '@lumino/widgets';

import { markWaiting } from '../waitingMark';
import { FakeConnection } from '../../__tests__/fakes';

it('marks the icon while a session waits for the user, and says so', () => {
  const connection = new FakeConnection();
  const panel = new Widget();
  panel.title.caption = 'Agent';
  markWaiting(panel, connection);
  const wait = (...ids: string[]) => {
    connection.waiting = ids.map(id => ({ sessionId: id, title: id }));
    connection.waitingChanged.emit();
    return [panel.title.className, panel.title.caption];
  };
  expect(panel.title.className).toBe('');
  expect(wait('a')).toEqual(['da-mod-waits', 'Agent: waits for you']);
  expect(wait('a', 'b')[1]).toBe('Agent: 2 sessions wait for you');
  expect(wait()).toEqual(['', 'Agent']);
  panel.dispose();
  expect(() => wait('a')).not.toThrow();
});
