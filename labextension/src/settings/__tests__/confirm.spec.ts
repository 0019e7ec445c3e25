import { ConfigValue } from '../../api/types';
import { confirmSettings } from '../confirm';

const SETTING: ConfigValue = {
  name: 'approval_policy',
  value: 'destructive',
  inherited: 'destructive',
  source: 'default',
  locked: false,
  editable: true,
  description: '',
  unconfirmed: 'never'
};
const OTHER: ConfigValue = { ...SETTING, name: 'model', unconfirmed: null };

it.each([
  [SETTING, true, 'never'],
  [SETTING, false, null],
  [{ ...SETTING, value: 'always' }, false, 'always']
])('what the user says is sent (%#)', async (setting, isConfirmed, value) => {
  const configure = jest.fn(async () => ({ values: [] }));
  const ask = jest.fn(async () => isConfirmed);
  const config = { values: [OTHER, setting] };
  expect(await confirmSettings(config, { configure }, ask)).toBe(true);
  expect(ask.mock.calls).toEqual([[setting]]);
  expect(configure.mock.calls).toEqual([[{ approval_policy: value }]]);
});

it('nothing is asked where nothing waits', async () => {
  const ask = jest.fn();
  const configure = jest.fn();
  const config = { values: [OTHER] };
  expect(await confirmSettings(config, { configure }, ask)).toBe(false);
  expect(ask).not.toHaveBeenCalled();
});
