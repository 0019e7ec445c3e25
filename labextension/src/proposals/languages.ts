/** Other names of languages, as info strings, magics and file extensions have them. */
const ALIASES: Readonly<Record<string, string>> = {
  bigquery: 'sql',
  cpp: 'c++',
  cs: 'c#',
  csharp: 'c#',
  duckdb: 'sql',
  hs: 'haskell',
  htm: 'html',
  ipython: 'python',
  jl: 'julia',
  js: 'javascript',
  kt: 'kotlin',
  md: 'markdown',
  node: 'javascript',
  postgres: 'sql',
  py: 'python',
  rb: 'ruby',
  rlang: 'r',
  rs: 'rust',
  rscript: 'r',
  sh: 'bash',
  shell: 'bash',
  plaintext: 'text',
  ts: 'typescript',
  txt: 'text',
  yml: 'yaml',
  zsh: 'bash'
};

/** One name for a language: `py`, `ipython3` and `Python` are `python`; empty for none. */
export function languageName(name: string): string {
  // The version goes: `c++17`, `python3.12`.
  const plain = name.toLowerCase().replace(/(?<=[a-z+])[\d.]+$/, '');
  if (plain.endsWith('sql')) {
    return 'sql';
  }
  return ALIASES[plain] ?? plain;
}

/** Magics over a cell that is in the notebook's own language all the same. */
const OF_THE_KERNEL: ReadonlySet<string> = new Set([
  'capture',
  'debug',
  'memit',
  'mprun',
  'prun',
  'px',
  'time',
  'timeit'
]);

/** The first line of a cell whose magic gives it another language; null where none does. */
export function magicOf(
  source: string
): { line: string; language: string } | null {
  const match = /^\s*%%([\w!]+)([^\n]*)/.exec(source);
  if (!match || OF_THE_KERNEL.has(match[1].toLowerCase())) {
    return null;
  }
  const [whole, name, rest] = match;
  const words = rest.trim().split(/\s+/);
  switch (name.toLowerCase()) {
    case 'script':
      return { line: whole, language: languageName(words[0] ?? '') };
    case '!':
    case 'sx':
    case 'system':
      return { line: whole, language: 'bash' };
    case 'file':
    case 'writefile':
      return { line: whole, language: languageOfFile(words.pop() ?? '') };
    default:
      return { line: whole, language: languageName(name) };
  }
}

/** The language of a text file, by its name. */
export function languageOfFile(path: string): string {
  const name = path.split('/').pop() ?? '';
  return languageName(name.slice(name.lastIndexOf('.') + 1));
}
