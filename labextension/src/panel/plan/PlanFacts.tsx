import React from 'react';

import { IPlan, workflowLabel } from '../../session/plan';
import { approvalLabel } from '../../session/labels';

/** Whose plan it is, the tools that it needs, and how long it may take. */
export function PlanFacts(props: { plan: IPlan }): JSX.Element | null {
  const { workflow, requiredTools, estimatedDuration } = props.plan;
  const tools = [...new Set((requiredTools ?? []).map(planToolLabel))];
  if (!workflow && !tools.length && !estimatedDuration) {
    return null;
  }
  return (
    <div className="da-plan-facts">
      {workflow && (
        <div>Ready workflow, no model: {workflowLabel(workflow)}</div>
      )}
      {tools.length > 0 && <div>Tools: {tools.join(', ')}</div>}
      {estimatedDuration && <div>Takes about: {about(estimatedDuration)}</div>}
    </div>
  );
}

/** "add a cell". */
function planToolLabel(name: string): string {
  const label = approvalLabel({ name, arguments: {} }, () => null);
  return label.charAt(0).toLowerCase() + label.slice(1);
}

/** A guess in words; a bare number is seconds, as models mean it. */
function about(duration: string): string {
  const label = duration
    .trim()
    .replace(/^(about|around|approximately|~)\s*/i, '');
  return /^\d+(\.\d+)?$/.test(label) ? `${label} s` : label;
}
