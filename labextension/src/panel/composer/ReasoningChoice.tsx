import React, { useId } from 'react';

import { ModelInfo, ReasoningEffort } from '../../api/types';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

const LABELS: Record<ReasoningEffort, string> = {
  none: 'None',
  minimal: 'Minimal',
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  xhigh: 'Very high',
  max: 'Maximum'
};

/** How much the chosen model reasons in this session; nothing for one that does not. */
export function ReasoningChoice(props: {
  model?: ModelInfo;
}): JSX.Element | null {
  const { model } = usePanel();
  const { reasoningEffort } = useValue(model.composerState);
  const reply = useValue(model.models);
  const id = useId();
  const isLocked = !!reply?.lockedChoices?.includes('reasoning_effort');
  const efforts = props.model?.reasoningEfforts ?? [];
  if (!efforts.length) {
    return null;
  }
  const chosen =
    reasoningEffort && efforts.includes(reasoningEffort) ? reasoningEffort : '';
  return (
    <div className="da-reasoning-choice">
      <label htmlFor={id}>Reasoning effort</label>
      <select
        id={id}
        className="da-field"
        data-testid="da-reasoning"
        disabled={isLocked}
        value={chosen}
        onChange={({ target }) =>
          model.composerState.choose({
            reasoningEffort: (target.value || null) as ReasoningEffort | null
          })
        }
      >
        <option value="">
          {isLocked ? 'Set by the administrator' : 'As in settings'}
        </option>
        {efforts.map(effort => (
          <option key={effort} value={effort}>
            {LABELS[effort]}
          </option>
        ))}
      </select>
    </div>
  );
}
