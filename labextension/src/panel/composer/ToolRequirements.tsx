import { PathExt } from '@jupyterlab/coreutils';
import { IInputModel } from '@jupyter/chat/lib/input-model';
import React, { useEffect, useState } from 'react';

import { toolsIn } from './attachments/references';
import { useValue } from '../../session/observable';
import { useEditorChanges } from './editorChanges';
import { useComposer } from './composerContext';
import { usePanel } from '../context';
import { unmetRequirements, useTools } from './toolState';

/** Tools that the message means and that it cannot have, before it is sent. */
export function ToolRequirements(props: {
  input: IInputModel;
}): JSX.Element | null {
  const { input } = props;
  const { model } = usePanel();
  const { mode, tools: chosen } = useValue(model.composerState);
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
  const unmet = unmetRequirements(names, useTools(names.length > 0), mode);
  if (!unmet.length) {
    return null;
  }
  const remedies = new Set(unmet.map(({ remedy }) => remedy));
  return (
    <div className="da-notice da-mod-info" role="status" data-testid="da-lacks">
      {unmet.map(({ name, reason }) => (
        <span key={name} className="da-lack">
          {`#${name}: ${reason}`}
        </span>
      ))}
      {remedies.has('mode') && <SwitchToAgent />}
      {remedies.has('notebook') && <AttachActive />}
    </div>
  );
}

/** The way to Agent mode, from where something needs it. */
export function SwitchToAgent(): JSX.Element {
  const { model } = usePanel();
  const { mode } = useValue(model.composerState);
  const composer = useComposer();
  return mode === 'agent' ? (
    <span className="da-dim">Agent mode is on.</span>
  ) : (
    <button
      type="button"
      className="da-link"
      data-testid="da-switch-mode"
      onClick={() => {
        model.composerState.choose({ mode: 'agent' });
        composer.focus();
      }}
    >
      Switch to Agent mode
    </button>
  );
}

/** The active notebook is attached by a click, where it is not yet. */
export function AttachActive(): JSX.Element | null {
  const { model } = usePanel();
  useValue(model.composerState);
  useEditorChanges();
  const composer = useComposer();
  const path = model.editor.activeNotebook;
  if (!path || model.composerState.hasNotebook(path)) {
    return null;
  }
  return (
    <button
      type="button"
      className="da-link"
      onClick={() => {
        model.composerState.attach({ kind: 'notebook', path });
        composer.focus();
      }}
    >
      {`Attach ${PathExt.basename(path)}`}
    </button>
  );
}
