/** Acts beyond the kernel, as the server knows them: both are tested by `tests/tools/acts.json`. */
const ACTS: readonly RegExp[] = [
  /^\s*(%%)?!/,
  /^\s*[\w.,\s[\]'"]+=\s*(!|%(sx|system)\b)/,
  /^\s*%%?(sx|system|bash|sh|script|cmd|powershell|perl|ruby|writefile|file)\b/,
  /^\s*%(pip|conda|mamba|micromamba|uv|rm|rmdir|mv|cp)\b/,
  /^\s*(pip|pip3|conda|mamba)\s+(install|uninstall|remove|update)\b/,
  /^\s*rm\s+-/,
  /\bos\.(system|popen|remove|unlink|rmdir)\s*\(|\bsubprocess\.\w+\s*\(/,
  /\bget_ipython\(\)\.(system|getoutput)\s*\(/,
  /\bshutil\.(rmtree|move)\s*\(/
];

/** The first line that is new in a source and acts beyond the kernel; null where none does. */
export function newAct(before: string, after: string): string | null {
  const known = new Set(before.split('\n').map(line => line.trim()));
  const found = after
    .split('\n')
    .find(
      line =>
        !known.has(line.trim()) &&
        !/^\s*#/.test(line) &&
        ACTS.some(act => act.test(line))
    );
  return found?.trim() ?? null;
}
