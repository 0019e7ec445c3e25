// Which room of src/ may import which (docs/architecture.md). Checked by `jlpm imports:check`.

/** @param {string} room @param {string[]} allowed what it may import of src/ beside itself */
const only = (room, ...allowed) => ({
  name: `${room}-imports`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: {
    path: '^src/',
    pathNot: `^src/((${[room, ...allowed].join('|')})/|tokens.ts)`
  }
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    only('api'),
    only('diff'),
    only('notebook', 'api', 'diff'),
    only('proposals', 'api'),
    only('session', 'api', 'notebook'),
    only('ui', 'api', 'proposals', 'session'),
    only('actions', 'api', 'session', 'ui'),
    only('approvals', 'api', 'session', 'ui'),
    only('bridge', 'api', 'notebook'),
    only('held', 'api', 'notebook', 'ui'),
    only('lexical', 'api', 'notebook'),
    {
      name: 'panel-is-imported-by-nobody',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(panel/|index.ts)' },
      to: { path: '^src/panel/' }
    }
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: '__tests__|node_modules',
    // Imports of types count, too.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' }
  }
};
