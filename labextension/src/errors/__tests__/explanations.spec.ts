import { knownOf } from '../explanations';
import { FixInfo, ModelsReply } from '../../api/types';

function fix(...calls: FixInfo['calls']): FixInfo {
  return { id: 'f', title: 'T', explanation: 'E', safe: true, calls };
}

describe('knownOf', () => {
  const models = {
    ready: false,
    message: 'No model.',
    connections: [{ title: 'Way', steps: 'Set `KEY`.' }],
    models: []
  } as unknown as ModelsReply;

  it('says what the error means, what helps, and how to connect a model', () => {
    const text = knownOf(
      { name: 'NameError', message: "name 'a_b' is not defined" },
      [{ ...fix(), title: 'Replace a_b', explanation: 'There is *no* a_b.' }],
      models
    );
    expect(text).toContain('Nothing defines this name');
    expect(text).toContain('**Replace a\\_b**: There is \\*no\\* a\\_b.');
    expect(text).toContain('**Way**: Set `KEY`.');
  });

  it('lets a message close no fence', () => {
    const text = knownOf(
      { name: 'constructor', message: '```\n# x' },
      [],
      models
    );
    expect(text).toContain('````text\nconstructor: ```\n# x\n````');
  });
});
