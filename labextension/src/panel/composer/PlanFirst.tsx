import React from 'react';

import { useValue } from '../../session/observable';
import { usePanel } from '../context';

const TITLE = 'Show a plan and wait for your approval before doing anything';

/** In Agent mode: whether the plan of the next message waits for the user. */
export function PlanFirst(): JSX.Element | null {
  const { model } = usePanel();
  const { mode, planFirst } = useValue(model.composerState);
  if (mode !== 'agent') {
    return null;
  }
  return (
    <button
      type="button"
      role="switch"
      className="da-select da-plan-first"
      data-testid="da-plan-first"
      aria-checked={planFirst}
      title={TITLE}
      onClick={() => model.composerState.choose({ planFirst: !planFirst })}
    >
      Plan first
    </button>
  );
}
