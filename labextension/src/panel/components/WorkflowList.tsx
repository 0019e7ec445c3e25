import React from 'react';

import { useValue } from '../state/value';
import { CardFrame, Choices, Problem } from './CardFrame';
import { usePanel } from './context';

/** The workflows that there are. */
export function WorkflowList(): JSX.Element {
  const { guide } = usePanel().model;
  const { list, problem } = useValue(guide.workflows.known);
  return (
    <CardFrame title="Workflows" testId="da-workflows" takesFocus>
      <p className="da-dim">
        Each writes and runs a notebook, and needs no model.
      </p>
      {problem && (
        <Problem
          message={problem}
          onRetry={() => void guide.workflows.refresh()}
        />
      )}
      {!list && !problem && <p>Looking for the workflows</p>}
      {list && (
        <Choices
          items={list.map(({ id, name, description }) => ({
            key: id,
            name,
            about: description,
            onClick: () => guide.showWorkflow(id)
          }))}
        />
      )}
    </CardFrame>
  );
}
