import React, { memo } from 'react';

import { Question } from '../../approvals/Question';
import { IQuestionEntry } from '../../session/turn';
import { usePanel } from '../context';

/** A question of a turn to the user. */
export const QuestionEntry = memo(
  ({ entry }: { entry: IQuestionEntry }): JSX.Element => {
    const { model } = usePanel();
    return (
      <Question entry={entry} answer={text => model.answer(entry.id, text)} />
    );
  }
);
