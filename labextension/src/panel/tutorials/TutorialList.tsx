import React from 'react';

import { progressOf, startLabel } from './lessons';
import { useValue } from '../../session/observable';
import { CardFrame, ChoiceList } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';
import { usePanel } from '../context';

/** The tutorials, and how far one is in each. */
export function TutorialList(): JSX.Element {
  const { toolsPanel } = usePanel().model;
  const { list, starting, problem } = useValue(toolsPanel.tutorials.known);
  return (
    <CardFrame title="Tutorials" testId="da-tutorials" takesFocus>
      <p className="da-dim">
        Each opens its own notebook and checks your code in its kernel.
      </p>
      {problem && (
        <Problem
          message={problem}
          onRetry={() => void toolsPanel.tutorials.refresh()}
        />
      )}
      {!list && !problem && <p>Loading tutorials</p>}
      {list && (
        <ChoiceList
          items={list.map(tutorial => {
            const { done, total } = progressOf(tutorial);
            const does =
              starting === tutorial.id ? 'Starting' : startLabel(tutorial);
            return {
              key: tutorial.id,
              name: tutorial.title,
              aside: `${done} of ${total} done`,
              about: tutorial.description,
              action: does,
              disabled: starting !== undefined,
              onClick: () => void toolsPanel.openTutorial(tutorial.id)
            };
          })}
        />
      )}
    </CardFrame>
  );
}
