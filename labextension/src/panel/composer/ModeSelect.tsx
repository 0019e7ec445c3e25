import React from 'react';

import { Mode } from '../../api/types';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

const MODES: readonly { mode: Mode; label: string; title: string }[] = [
  { mode: 'ask', label: 'Ask', title: 'Answers; changes nothing' },
  { mode: 'edit', label: 'Edit', title: 'Proposes changes' },
  { mode: 'agent', label: 'Agent', title: 'Changes and runs the notebook' }
];

/** Ask, Edit or Agent. */
export function ModeSelect(): JSX.Element {
  const { model } = usePanel();
  const { mode } = useValue(model.composerState);
  return (
    <select
      className="da-select da-mode"
      data-testid="da-mode-select"
      aria-label="Mode"
      title={MODES.find(item => item.mode === mode)?.title}
      value={mode}
      onChange={event =>
        model.composerState.choose({ mode: event.target.value as Mode })
      }
    >
      {MODES.map(item => (
        <option key={item.mode} value={item.mode} title={item.title}>
          {item.label}
        </option>
      ))}
    </select>
  );
}
