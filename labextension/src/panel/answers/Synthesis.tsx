import React, { memo, useMemo } from 'react';

import { modelName } from './answersController';
import { AnswerFoot } from './AnswerFoot';
import { IAnswerProps, useProvenance } from './answerProps';
import { OWN_ANSWER, withAnswerLinks } from './citations';
import { goToAnswer } from './goToAnswer';
import { textOf } from '../../session/answers';
import { useValue } from '../../session/observable';
import { Markdown } from '../conversation/Markdown';
import { usePanel } from '../context';

/** One answer that says where the others agree and differ; its numbers lead to them. */
export const Synthesis = memo((props: IAnswerProps): JSX.Element => {
  const { model } = usePanel();
  const { answer, turn } = props;
  const reply = useValue(model.models);
  const name = modelName(reply, answer.model);
  const text = textOf(answer);
  const sources = useMemo(() => answer.sources ?? [], [answer.sources]);
  const linked = useMemo(() => withAnswerLinks(text, sources), [text, sources]);
  const isChosen = !!turn.compare && turn.chosen === answer.id;
  const provenance = useProvenance(answer, turn.id);
  const isDone = answer.status === 'completed';
  return (
    <section
      className="da-further da-synthesis"
      data-testid="da-synthesis"
      data-status={answer.status}
      data-answer={answer.id}
      data-chosen={isChosen}
      aria-label={`Synthesis by ${name}`}
    >
      <div className="da-further-head" title={answer.model}>
        {answer.model ? `Synthesis · ${name}` : 'Synthesis'}
      </div>
      {text.trim() && (
        <div className="da-assistant">
          <Markdown
            text={linked}
            isGrowing={answer.status === 'running'}
            provenance={provenance}
          />
        </div>
      )}
      <div className="da-sources">
        {sources.map(({ number, answerId, model: id, cited }) => (
          <button
            key={number}
            type="button"
            className="da-link"
            title={id}
            onClick={event =>
              goToAnswer(event.currentTarget, answerId ?? OWN_ANSWER)
            }
          >
            {`[${number}] ${modelName(reply, id)}`}
            {isDone && !cited && ' (not cited)'}
          </button>
        ))}
      </div>
      <AnswerFoot
        {...props}
        name="the synthesis"
        text={text}
        isChosen={isChosen}
        provenance={provenance}
      />
    </section>
  );
});
