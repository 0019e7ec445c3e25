export { drawLines, linesButtons, renderLines } from './addedLines';
export { EditorMerge, whenDrawn, type IWritable } from './editorMerge';
export { applyHunks, hunksOf, type IHunk } from './hunks';
