import plugins from '../index';

describe('the extension', () => {
  it('has plugins that start by themselves, each with an id of its own', () => {
    const ids = plugins.map(plugin => plugin.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(plugins.every(plugin => plugin.autoStart)).toBe(true);
  });

  it('keeps the settings under the id that the schema has', () => {
    expect(plugins.map(plugin => plugin.id)).toContain(
      'jupyter-datalayer-agent:plugin'
    );
  });
});
