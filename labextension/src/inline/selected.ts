import { CodeEditor } from '@jupyterlab/codeeditor';

/** What is selected in an editor, in UTF-16 units of its text; null for nothing but blanks. */
export function selectedIn(
  editor: CodeEditor.IEditor | null,
  source: string
): readonly [number, number] | null {
  if (!editor) {
    return null;
  }
  const { start, end } = editor.getSelection();
  const [from, to] = [start, end]
    .map(position => editor.getOffsetAt(position))
    .sort((one, other) => one - other);
  return source.slice(from, to).trim() ? [from, to] : null;
}

/** Where what was selected in `base` is in the text that it became; null where that is not known. */
export function foundAgain(
  selection: readonly [number, number] | null,
  base: string,
  now: string
): readonly [number, number] | null {
  if (!selection || base === now) {
    return selection;
  }
  const [from, to] = selection;
  const at = now.indexOf(base.slice(from, to));
  const isOnlyOne = at >= 0 && at === now.lastIndexOf(base.slice(from, to));
  return isOnlyOne ? [at, at + to - from] : null;
}
