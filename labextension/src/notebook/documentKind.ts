/** Whether a path is that of a Lexical document. */
export function isLexical(path: string): boolean {
  return /\.(dlex|lexical)$/i.test(path);
}

/** What the parts of the document at a path are called. */
export function partOf(path: string): 'block' | 'cell' {
  return isLexical(path) ? 'block' : 'cell';
}

/** What a document without cells is called. */
export function wholeOf(path: string): 'document' | 'file' {
  return isLexical(path) ? 'document' : 'file';
}
