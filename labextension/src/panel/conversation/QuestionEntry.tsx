import React, { memo } from 'react';

import { InputForm } from '../../approvals/InputForm';
import { Question } from '../../approvals/Question';
import { IQuestionEntry } from '../../session/turn';
import { usePanel } from '../context';

/** A question of a turn to the user. */
export const QuestionEntry = memo(
  ({ entry }: { entry: IQuestionEntry }): JSX.Element => {
    const { model } = usePanel();
    return entry.form ? (
      <InputForm
        entry={entry}
        answer={form =>
          model.ops.send({
            type: 'user_input_answer',
            requestId: entry.id,
            form
          })
        }
      />
    ) : (
      <Question entry={entry} answer={text => model.answer(entry.id, text)} />
    );
  }
);
