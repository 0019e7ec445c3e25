import React from 'react';

import { IPlan, workflowWords } from '../state/plan';
import { askWords } from '../state/words';

/** Whose plan it is, the tools that it needs, and how long it may take. */
export function PlanFacts(props: { plan: IPlan }): JSX.Element | null {
  const { workflow, requiredTools, estimatedDuration } = props.plan;
  const tools = [...new Set((requiredTools ?? []).map(toolWords))];
  if (!workflow && !tools.length && !estimatedDuration) {
    return null;
  }
  return (
    <div className="da-plan-facts">
      {workflow && (
        <div>Ready workflow, no model: {workflowWords(workflow)}</div>
      )}
      {tools.length > 0 && <div>Tools: {tools.join(', ')}</div>}
      {estimatedDuration && <div>Takes about: {about(estimatedDuration)}</div>}
    </div>
  );
}

/** "add a cell". */
function toolWords(name: string): string {
  const words = askWords({ name, arguments: {} }, () => null);
  return words.charAt(0).toLowerCase() + words.slice(1);
}

/** A guess in words; a bare number is seconds, as models mean it. */
function about(duration: string): string {
  const words = duration
    .trim()
    .replace(/^(about|around|approximately|~)\s*/i, '');
  return /^\d+(\.\d+)?$/.test(words) ? `${words} s` : words;
}
