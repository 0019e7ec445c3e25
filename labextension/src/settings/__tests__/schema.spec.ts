import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { ConfigReply } from '../../api/types';
import { asTheServerHasIt, composed, own } from '../schema';
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

  it('show the user’s values over the server’s, and of what is locked the server’s', () => {
    const known = config(
      { name: 'temperature', inherited: 0.5 },
      { name: 'top_p', inherited: 0.9 },
      { name: 'approval_policy', inherited: 'always', locked: true },
      { name: 'model', locked: true },
      { name: 'log_level', inherited: 'INFO', editable: false }
    );
    const user = { temperature: 1.5, approvalPolicy: 'never', model: 'mine' };
    expect(composed(given, user, known)).toEqual({
      temperature: 1.5,
      topP: 0.9,
      approvalPolicy: 'always'
    });
    expect(composed(given, user, null)).toEqual(user);
  });

  it('keep of what the editor saves only what the user changed', () => {
    const known = config(
      { name: 'temperature', inherited: 0.5 },
      { name: 'mode_models', inherited: {} },
      { name: 'token_limit' },
      { name: 'approval_policy', inherited: 'always', editable: false }
    );
    const saved = {
      temperature: 0.5,
      modeModels: {},
      tokenLimit: 9000,
      approvalPolicy: 'never'
    };
    expect(own(saved, known)).toEqual({ tokenLimit: 9000 });
  });
});
