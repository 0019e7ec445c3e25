export { hunkButton, renderLines } from './addedLines';
export { EditorMerge, type WriteHunks } from './editorMerge';
export { applyHunks, hunksOf, type IHunk } from './hunks';
