import React from 'react';

import { progressOf, startWords } from '../state/lessons';
import { useValue } from '../state/value';
import { CardFrame, Choices, Problem } from './CardFrame';
import { usePanel } from './context';

/** The tutorials, and how far one is in each. */
export function TutorialList(): JSX.Element {
  const { guide } = usePanel().model;
  const { list, starting, problem } = useValue(guide.tutorials.known);
  return (
    <CardFrame title="Tutorials" testId="da-tutorials" takesFocus>
      <p className="da-dim">
        Each has a notebook of its own; what you write in it is checked in its
        kernel.
      </p>
      {problem && (
        <Problem
          message={problem}
          onRetry={() => void guide.tutorials.refresh()}
        />
      )}
      {!list && !problem && <p>Looking for the tutorials</p>}
      {list && (
        <Choices
          items={list.map(tutorial => {
            const { done, total } = progressOf(tutorial);
            const does =
              starting === tutorial.id ? 'Starting' : startWords(tutorial);
            return {
              key: tutorial.id,
              name: tutorial.title,
              aside: `${done} of ${total} done`,
              about: tutorial.description,
              action: does,
              disabled: starting !== undefined,
              onClick: () => void guide.openTutorial(tutorial.id)
            };
          })}
        />
      )}
    </CardFrame>
  );
}
