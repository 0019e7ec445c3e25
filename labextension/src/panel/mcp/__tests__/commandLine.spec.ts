import { joinCommand, splitCommand } from '../commandLine';

describe('a command line', () => {
  it.each([
    ['', []],
    ['  uvx   mcp-server-time ', ['uvx', 'mcp-server-time']],
    [
      'node "/my files/a.js" --x=\'a b\'c',
      ['node', '/my files/a.js', '--x=a bc']
    ],
    ['a "" b', ['a', '', 'b']],
    ['C:\\bin\\x.exe a\\ b', ['C:\\bin\\x.exe', 'a b']],
    ['"say \\"hi\\""', ['say "hi"']],
    ["'a\\b'", ['a\\b']],
    ['"open', ['open']]
  ])('%s', (line, words) => {
    expect(splitCommand(line)).toEqual(words);
    expect(splitCommand(joinCommand(words))).toEqual(words);
  });
});
