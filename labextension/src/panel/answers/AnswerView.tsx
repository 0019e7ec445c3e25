import React, { memo, useMemo } from 'react';

import { modelName } from './answersController';
import { AnswerFoot } from './AnswerFoot';
import { IAnswerProps, useProvenance } from './answerProps';
import { textOf } from '../../session/answers';
import { foldCalls } from '../../session/foldCalls';
import { useValue } from '../../session/observable';
import { CallGroup } from '../conversation/CallGroup';
import { Markdown } from '../conversation/Markdown';
import { ToolLine } from '../conversation/ToolLine';
import { usePanel } from '../context';

/** What one of several models answered, what it read for that, and what it took. */
export const AnswerView = memo((props: IAnswerProps): JSX.Element => {
  const { model } = usePanel();
  const { answer, turn, number } = props;
  const name = modelName(useValue(model.models), answer.model);
  const text = textOf(answer);
  const isChosen = !!turn.compare && turn.chosen === answer.id;
  const calls = useMemo(() => foldCalls(answer.calls), [answer.calls]);
  const provenance = useProvenance(answer, turn.id);
  return (
    <section
      className="da-further"
      data-testid="da-further-answer"
      data-status={answer.status}
      data-answer={answer.id}
      data-chosen={isChosen}
      aria-label={`${turn.compare ? 'Answer of' : 'Regenerated:'} ${name}`}
    >
      <div className="da-further-head" title={answer.model}>
        {number !== undefined && (
          <span className="da-further-number">[{number}]</span>
        )}
        {name}
      </div>
      {calls.map(entry =>
        entry.kind === 'tool' ? (
          <ToolLine key={entry.id} call={entry} target={turn.target} />
        ) : 'calls' in entry ? (
          <CallGroup key={entry.id} group={entry} target={turn.target} />
        ) : null
      )}
      {text.trim() && (
        <div className="da-assistant">
          <Markdown
            text={text}
            isGrowing={answer.status === 'running'}
            provenance={provenance}
          />
        </div>
      )}
      <AnswerFoot
        {...props}
        name={name}
        text={text}
        isChosen={isChosen}
        provenance={provenance}
      />
    </section>
  );
});
