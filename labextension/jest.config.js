const jupyterlab = require('@jupyterlab/testutils/lib/jest-config');

const base = jupyterlab(__dirname);

// Packages that are published as ES modules, which jest must transform.
const esModules = [
  '@codemirror',
  '@jupyter',
  '@jupyterlab',
  '@lexical',
  '@lumino',
  '@marijn',
  '@microsoft',
  '@noble',
  '@preact',
  'color',
  'exenv-es6',
  'lexical',
  'lib0',
  'marked',
  'nanoid',
  'vscode-ws-jsonrpc',
  'y-protocols',
  'y-websocket',
  'yjs'
].join('|');

module.exports = {
  ...base,
  reporters: ['default'],
  testRegex: '/src/.*\\.spec\\.tsx?$',
  transform: {
    '\\.svg$': base.transform['\\.svg$'],
    '\\.[jt]sx?$': '<rootDir>/jest.transform.js'
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esModules})).+`]
};
