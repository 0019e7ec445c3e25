import React from 'react';

import { useValue } from '../state/value';
import { usePanel } from './context';

const TITLE =
  'Show the plan first and wait for your approval, before anything is done';

/** In Agent mode: whether the plan of the next message waits for the person. */
export function PlanFirst(): JSX.Element | null {
  const { model } = usePanel();
  const { mode, planFirst } = useValue(model.choices);
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
      onClick={() => model.choices.choose({ planFirst: !planFirst })}
    >
      Plan first
    </button>
  );
}
