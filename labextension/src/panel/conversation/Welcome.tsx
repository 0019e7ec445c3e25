import { PathExt } from '@jupyterlab/coreutils';
import React, { useEffect, useId } from 'react';

import { Mode } from '../../api/types';
import { IEditor } from '../../notebook/editor';
import { useValue } from '../../session/observable';
import { ChoiceList } from '../toolsPanel/CardFrame';
import { useEditorChanges } from '../composer/editorChanges';
import { CellFixes } from './Fixes';
import { Readiness, useReadiness } from './Readiness';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';

/** What an empty conversation says: how to connect a model, or what could be done now. */
export function Welcome(): JSX.Element | null {
  const { model } = usePanel();
  const models = useValue(model.models);
  const { isReady } = useReadiness();
  const card = useValue(model.toolsPanel.card);
  const notice = useValue(model.notice);
  if (!models || (card && notice?.needs !== 'model')) {
    return null;
  }
  return isReady ? (
    <Suggestions />
  ) : (
    <>
      <Readiness />
      <WithoutModel />
    </>
  );
}

/** Three things to begin with, drawn from the active notebook. */
function Suggestions(): JSX.Element {
  const { model } = usePanel();
  const composer = useComposer();
  useEditorChanges();
  const path = model.editor.activeNotebook;
  return (
    <div className="da-welcome" data-ready="true">
      <p className="da-dim">
        {path
          ? `Suggestions for ${PathExt.basename(path)}`
          : 'Open a notebook or ask about any file. Suggestions:'}
      </p>
      <ul className="da-suggestions">
        {suggestionsFor(model.editor, path).map(({ text, mode }) => (
          <li key={text}>
            <button
              type="button"
              className="da-suggestion"
              onClick={() => {
                if (path) {
                  model.composerState.attach({ kind: 'notebook', path });
                }
                model.composerState.choose({ mode });
                composer.write(text);
              }}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
      {path && <ErrorFixes path={path} />}
      <details className="da-more">
        <summary>Workflows, quality, tutorials</summary>
        <ReadyNow />
      </details>
    </div>
  );
}

/** What works right now where no model is connected. */
function WithoutModel(): JSX.Element {
  const { editor } = usePanel().model;
  const id = useId();
  useEditorChanges();
  const path = editor.activeNotebook;
  return (
    <section className="da-welcome" aria-labelledby={id}>
      <h3 id={id}>Available without a model</h3>
      {path && <ErrorFixes path={path} />}
      <ReadyNow />
    </section>
  );
}

/** The fixes for the first cells of a notebook that show an error. */
function ErrorFixes(props: { path: string }): JSX.Element {
  const { path } = props;
  const { errors = [] } = usePanel().model.editor.hints(path);
  return (
    <>
      {errors.map(error => (
        <CellFixes key={error.cellId} path={path} error={error} />
      ))}
    </>
  );
}

/** A button for each thing that needs no model. */
function ReadyNow(): JSX.Element {
  const { toolsPanel, editor } = usePanel().model;
  const { list } = useValue(toolsPanel.workflows.known);
  const path = editor.activeNotebook;
  useEffect(() => {
    if (!list) {
      void toolsPanel.workflows.refresh();
    }
  }, [toolsPanel, list]);
  const items = [
    ...(list ?? []).map(({ id, name, description }) => ({
      key: id,
      name,
      about: firstSentence(description),
      onClick: () => toolsPanel.showWorkflow(id)
    })),
    {
      key: 'quality',
      name: 'Check quality',
      about: path
        ? `A score for ${PathExt.basename(path)} and what to improve.`
        : 'Open a notebook first.',
      disabled: !path,
      onClick: () => toolsPanel.showQuality()
    },
    {
      key: 'tutorials',
      name: 'Tutorials',
      about: 'Pandas, Matplotlib, scikit-learn: lessons that check your code.',
      onClick: () => toolsPanel.showTutorials()
    }
  ];
  return <ChoiceList items={items} />;
}

/** What goes before a colon or the end of the first sentence. */
function firstSentence(text: string): string {
  const end = /[.:](\s|$)/.exec(text);
  return end ? `${text.slice(0, end.index)}.` : text;
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
  return found.slice(0, 3);
}
