// Translates modules for jest by the compiler that builds the labextension. Types are checked by
// `jlpm lint:check`.
const { experiments } = require('@rspack/core');

module.exports = {
  process(source, path) {
    const { code } = experiments.swc.transformSync(source, {
      filename: path,
      sourceMaps: 'inline',
      module: { type: 'commonjs' },
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', tsx: !path.endsWith('.ts') }
      }
    });
    return { code };
  }
};
