import { Mode } from '../../api/types';
import { IEditor } from '../../notebook/editor';
import { isLexical } from '../../notebook/documentKind';

/** A message to begin with. */
export interface ISuggestion {
  text: string;
  mode: Mode;
}

/** The three suggestions that fit best to a notebook or Lexical document. */
export function suggestionsFor(
  editor: IEditor,
  path: string | null
): readonly ISuggestion[] {
  if (!path) {
    return [
      { text: 'List the notebooks and data files here', mode: 'ask' },
      { text: 'Make a notebook that loads a data file here', mode: 'agent' },
      { text: 'What can you do in a notebook?', mode: 'ask' }
    ];
  }
  return (isLexical(path) ? ofDocument : ofNotebook)(editor, path).slice(0, 3);
}

function ofNotebook(editor: IEditor, path: string): ISuggestion[] {
  const { isEmpty, errors, frame } = editor.hints(path);
  const error = errors?.[0];
  if (isEmpty) {
    return [
      { text: 'Analyse a data file from this folder', mode: 'agent' },
      { text: 'Set this notebook up with imports and headings', mode: 'agent' },
      { text: 'What data files are in this folder?', mode: 'ask' }
    ];
  }
  const found: ISuggestion[] = [];
  if (error) {
    found.push({
      // Some kernels (bash) give none.
      text: `Fix the ${error.name || 'error'} in cell ${error.number}`,
      mode: 'agent'
    });
  }
  if (frame) {
    found.push({
      text: `Look at the data frame ${frame}: columns, gaps, first plot`,
      mode: 'agent'
    });
  }
  found.push(
    { text: 'Explain what this notebook does', mode: 'ask' },
    { text: 'Find mistakes and weak points in this notebook', mode: 'ask' },
    { text: 'Add headings and short explanations', mode: 'agent' }
  );
  return found;
}

function ofDocument(editor: IEditor, path: string): ISuggestion[] {
  const { isEmpty, error } = editor.lexicalHints(path);
  if (isEmpty) {
    return [
      { text: 'Write a report on a data file from this folder', mode: 'agent' },
      { text: 'Set this document up with a title and headings', mode: 'agent' },
      { text: 'What data files are in this folder?', mode: 'ask' }
    ];
  }
  return [
    ...(error
      ? [{ text: `Fix the ${error} in this document`, mode: 'agent' as const }]
      : []),
    { text: 'Explain what this document says', mode: 'ask' },
    { text: 'Find mistakes and weak points in this document', mode: 'ask' },
    { text: 'Add a short summary at the top', mode: 'agent' }
  ];
}
