/** The words of a command line, as a shell has them: quotes and backslashes keep spaces. */
export function splitCommand(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line[at];
    const isEscape =
      char === '\\' && quote !== "'" && /[\s"'\\]/.test(line[at + 1] ?? '');
    if (isEscape) {
      word = (word ?? '') + line[++at];
    } else if (quote) {
      quote = char === quote ? '' : quote;
      word = (word ?? '') + (quote ? char : '');
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== null) {
        words.push(word);
      }
      word = null;
    } else {
      word = (word ?? '') + char;
    }
  }
  return word === null ? words : [...words, word];
}

/** A command line of these words. */
export function joinCommand(words: readonly string[]): string {
  return words
    .map(word =>
      word && !/[\s"'\\]/.test(word)
        ? word
        : `"${word.replace(/["\\]/g, match => `\\${match}`)}"`
    )
    .join(' ');
}
