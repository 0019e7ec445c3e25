import React from 'react';

import { useValue } from '../../session/observable';
import { CardFrame, ChoiceList } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';
import { usePanel } from '../context';

/** The workflows that there are. */
export function WorkflowList(): JSX.Element {
  const { toolsPanel } = usePanel().model;
  const { list, problem } = useValue(toolsPanel.workflows.known);
  return (
    <CardFrame title="Workflows" testId="da-workflows" takesFocus>
      <p className="da-dim">
        Each writes and runs a notebook, and needs no model.
      </p>
      {problem && (
        <Problem
          message={problem}
          onRetry={() => void toolsPanel.workflows.refresh()}
        />
      )}
      {!list && !problem && <p>Loading workflows</p>}
      {list && (
        <ChoiceList
          items={list.map(({ id, name, description }) => ({
            key: id,
            name,
            about: description,
            onClick: () => toolsPanel.showWorkflow(id)
          }))}
        />
      )}
    </CardFrame>
  );
}
