import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { ConfigReply } from '../../api/types';
import { asTheServerHasIt } from '../../settings/schema';
import schema from '../../../schema/settings.json';

const given = schema as unknown as ISettingRegistry.ISchema;

function config(...values: Partial<ConfigReply['values'][0]>[]): ConfigReply {
  const rest = {
    source: 'config' as const,
    locked: false,
    editable: true,
    description: ''
  };
  return { values: values.map(value => ({ name: '', ...rest, ...value })) };
}

describe('the settings as the editor shows them', () => {
  it('have what the server has as their defaults', () => {
    const shown = asTheServerHasIt(
      given,
      config(
        { name: 'max_tool_calls', value: 9, inherited: 50, source: 'user' },
        { name: 'api_base', inherited: 'https://***@host/v1' },
        { name: 'streaming', inherited: false }
      )
    );
    expect(shown.properties?.maxToolCalls.default).toBe(50);
    expect(shown.properties?.streaming.default).toBe(false);
    expect(shown.properties?.apiBase.default).toBeUndefined();
    expect(given.properties?.maxToolCalls.default).toBeUndefined();
  });

  it('say what is locked, and do not let it be changed', () => {
    const shown = asTheServerHasIt(
      given,
      config({ name: 'model', inherited: 'openai/fixed', locked: true })
    );
    const { model, outputs } = shown.properties ?? {};
    expect(model).toMatchObject({ default: 'openai/fixed', readOnly: true });
    expect(model.description).toMatch(/^Locked by the administrator/);
    expect(outputs.readOnly).toBeUndefined();
  });

  it('are as they are while nothing is known', () => {
    expect(asTheServerHasIt(given, null)).toBe(given);
  });
});
