import { PathExt } from '@jupyterlab/coreutils';
import React from 'react';

import { Mode } from '../../api/types';
import { IEditor } from '../editor';
import { useValue } from '../state/value';
import { useEditorChanges } from './ContextStrip';
import { Readiness, useReadiness } from './Readiness';
import { useComposer } from './composerContext';
import { usePanel } from './context';

/** What an empty conversation says: how to connect a model, or what could be done now. */
export function Welcome(): JSX.Element | null {
  const { model } = usePanel();
  const models = useValue(model.models);
  const { isReady } = useReadiness();
  if (!models) {
    return null;
  }
  return isReady ? <Suggestions /> : <Readiness />;
}

/** Three things to begin with, drawn from the notebook in front. */
function Suggestions(): JSX.Element {
  const { model } = usePanel();
  const composer = useComposer();
  useEditorChanges();
  const path = model.editor.activeNotebook;
  return (
    <div className="da-welcome" data-ready="true">
      <p className="da-dim">
        {path
          ? `${PathExt.basename(path)} is in front. You could begin with:`
          : 'Open a notebook, or ask about any file. You could begin with:'}
      </p>
      <ul className="da-suggestions">
        {suggestionsFor(model.editor, path).map(({ text, mode }) => (
          <li key={text}>
            <button
              type="button"
              className="da-suggestion"
              onClick={() => {
                if (path) {
                  model.choices.attach({ kind: 'notebook', path });
                }
                model.setMode(mode);
                composer.write(text);
              }}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ISuggestion {
  text: string;
  mode: Mode;
}

/** The three suggestions that fit best to a notebook. */
export function suggestionsFor(
  editor: IEditor,
  path: string | null
): ISuggestion[] {
  if (!path) {
    return [
      { text: 'List the notebooks and data files here', mode: 'ask' },
      { text: 'Make a notebook that loads a data file here', mode: 'agent' },
      { text: 'What can you do in a notebook?', mode: 'ask' }
    ];
  }
  const { isEmpty, error, frame } = editor.hints(path);
  if (isEmpty) {
    return [
      { text: 'Load a data file from this folder and show it', mode: 'agent' },
      { text: 'Set this notebook up with imports and headings', mode: 'agent' },
      { text: 'What data files are in this folder?', mode: 'ask' }
    ];
  }
  const found: ISuggestion[] = [];
  if (error) {
    found.push({
      text: `Fix the ${error.name} in cell ${error.number}`,
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
  return found.slice(0, 3);
}
