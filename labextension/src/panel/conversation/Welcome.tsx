import { PathExt } from '@jupyterlab/coreutils';
import React, { useEffect, useId } from 'react';

import { useValue } from '../../session/observable';
import { ChoiceList } from '../toolsPanel/CardFrame';
import { useEditorChanges } from '../composer/editorChanges';
import { CellFixes } from './Fixes';
import { Readiness, useReadiness } from './Readiness';
import { suggestionsFor } from './suggestions';
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

/** Three things to begin with, drawn from the active notebook or Lexical document. */
function Suggestions(): JSX.Element {
  const { model } = usePanel();
  const composer = useComposer();
  useEditorChanges();
  const { activeDocument: path, activeNotebook } = model.editor;
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
                  const kind = path === activeNotebook ? 'notebook' : 'file';
                  model.composerState.attach({ kind, path });
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
      {activeNotebook && <ErrorFixes path={activeNotebook} />}
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
