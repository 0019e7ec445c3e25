import React from 'react';

import { IPlan } from '../../session/plan';
import { lowerFirst } from '../../session/turnLabels';
import { spoken } from '../../session/toolNames';

/** Whose plan it is, the tools that it needs, and how long it may take. */
export function PlanFacts(props: { plan: IPlan }): JSX.Element | null {
  const { plan } = props;
  const { workflow, requiredTools, estimatedDuration } = plan;
  const tools = new Set(
    requiredTools?.map(name =>
      lowerFirst(plan.requiredToolLabels?.[name] ?? spoken(name))
    )
  );
  if (!workflow && !tools.size && !estimatedDuration) {
    return null;
  }
  return (
    <div className="da-plan-facts">
      {workflow && <div>Ready workflow, no model: {spoken(workflow)}</div>}
      {tools.size > 0 && <div>Tools: {[...tools].join(', ')}</div>}
      {estimatedDuration && <div>Takes about: {about(estimatedDuration)}</div>}
    </div>
  );
}

/** A guess in words; a bare number is seconds, as models mean it. */
function about(duration: string): string {
  const label = duration
    .trim()
    .replace(/^(about|around|approximately|~)\s*/i, '');
  return /^\d+(\.\d+)?$/.test(label) ? `${label} s` : label;
}
