import plugin from '../index';

describe('the extension', () => {
  it('has a plugin named after the package, which starts by itself', () => {
    expect(plugin.id).toBe('jupyter-datalayer-agent:plugin');
    expect(plugin.autoStart).toBe(true);
  });
});
