import { PathExt } from '@jupyterlab/coreutils';
import { IInputModel } from '@jupyter/chat/lib/input-model';
import React, { useEffect, useState } from 'react';

import { mentionsIn, toolsIn } from '../chat/references';
import { useValue } from '../state/value';
import { useEditorChanges } from './editorChanges';
import { useComposer } from './composerContext';
import { usePanel } from './context';
import { lacksOf, useTools } from './toolState';

/** Tools that the message means and that it cannot have, before it is sent. */
export function ToolLacks(props: { input: IInputModel }): JSX.Element | null {
  const { input } = props;
  const { model } = usePanel();
  const { mode, tools: chosen } = useValue(model.choices);
  const [typed, setTyped] = useState<readonly string[]>(toolsIn(input.value));

  useEffect(() => {
    const onChange = () => {
      const names = toolsIn(input.value);
      setTyped(now => (now.join() === names.join() ? now : names));
    };
    input.valueChanged.connect(onChange);
    onChange();
    return () => {
      input.valueChanged.disconnect(onChange);
    };
  }, [input]);

  const names = [...chosen, ...typed];
  const lacks = lacksOf(names, useTools(names.length > 0), mode);
  if (!lacks.length) {
    return null;
  }
  const remedies = new Set(lacks.map(({ remedy }) => remedy));
  return (
    <div className="da-notice da-mod-info" role="status" data-testid="da-lacks">
      {lacks.map(({ name, words }) => (
        <span key={name} className="da-lack">
          {`#${name}: ${words}`}
        </span>
      ))}
      {remedies.has('mode') && <SwitchToAgent />}
      {remedies.has('notebook') && <AttachActive />}
    </div>
  );
}

/** Where the message needs a notebook, and the one in front is not attached, before it is sent. */
export function NotebookLack(props: {
  input: IInputModel;
}): JSX.Element | null {
  const { model } = usePanel();
  const { mode, attachments } = useValue(model.choices);
  const [isMeant, setMeant] = useState(false);
  useEditorChanges();
  const { input } = props;

  useEffect(() => {
    const onChange = () => setMeant(isForNotebook(input.value));
    input.valueChanged.connect(onChange);
    onChange();
    return () => {
      input.valueChanged.disconnect(onChange);
    };
  }, [input]);

  const active = model.editor.activeNotebook;
  const hasNotebook = attachments.some(({ kind }) => kind === 'notebook');
  if (!isMeant || !active || hasNotebook || mode === 'ask') {
    return null;
  }
  return (
    <div
      className="da-notice da-mod-info"
      role="status"
      data-testid="da-notebook-lack"
    >
      <span className="da-lack">
        {`The agent does not see ${PathExt.basename(active)}.`}
      </span>
      <AttachActive />
    </div>
  );
}

/**
 * Whether a message is about the notebook in front as far as its words tell: it is no command, names
 * no document, and does not attach the one in front by itself, as `agent:` does.
 */
function isForNotebook(text: string): boolean {
  return (
    text.trim() !== '' &&
    !/^\s*(\/|agent:)/i.test(text) &&
    !mentionsIn(text, false).length
  );
}

/** The way to Agent mode, from where something needs it. */
export function SwitchToAgent(): JSX.Element {
  const { model } = usePanel();
  const { mode } = useValue(model.choices);
  const composer = useComposer();
  return mode === 'agent' ? (
    <span className="da-dim">Agent mode is on.</span>
  ) : (
    <button
      type="button"
      className="da-link"
      data-testid="da-switch-mode"
      onClick={() => {
        model.setMode('agent');
        composer.focus();
      }}
    >
      Switch to Agent mode
    </button>
  );
}

/** The notebook in front is attached by a click, where it is not yet. */
export function AttachActive(): JSX.Element | null {
  const { model } = usePanel();
  useValue(model.choices);
  useEditorChanges();
  const composer = useComposer();
  const path = model.editor.activeNotebook;
  if (!path || model.choices.hasNotebook(path)) {
    return null;
  }
  return (
    <button
      type="button"
      className="da-link"
      onClick={() => {
        model.choices.attach({ kind: 'notebook', path });
        composer.focus();
      }}
    >
      {`Attach ${PathExt.basename(path)}`}
    </button>
  );
}
