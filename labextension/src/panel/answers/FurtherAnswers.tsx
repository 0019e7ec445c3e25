import React from 'react';

import {
  canSynthesise,
  completeAnswers,
  hasOwnAnswer,
  isLast
} from './answersController';
import { AnswerView } from './AnswerView';
import { ContinueFrom } from './ContinueFrom';
import { Synthesis } from './Synthesis';
import { WentOnFrom } from './WentOnFrom';
import { ITurn } from '../../session/turn';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** What several models answered to the same message, and which answer the session goes on from. */
export function FurtherAnswers(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  useValue(store.conversation);
  if (!turn.answers.length) {
    return null;
  }
  const answers = turn.answers.filter(({ sources }) => !sources);
  const syntheses = turn.answers.filter(({ sources }) => sources);
  const numbers = new Map(
    syntheses
      .flatMap(({ sources }) => sources ?? [])
      .map(({ answerId, number }) => [answerId, number])
  );
  const isRunning = turn.answers.some(({ status }) => status === 'running');
  // While a comparison runs, it is the turn that the input's Stop stops.
  const canStop = isRunning && turn.status !== 'running';
  const canChoose = !!turn.compare && !isRunning && isLast(store, turn);
  return (
    <>
      {answers.length > 0 && (
        <div className="da-answers" data-count={answers.length}>
          {answers.map(answer => (
            <AnswerView
              key={answer.id}
              answer={answer}
              turn={turn}
              number={numbers.get(answer.id)}
              canChoose={canChoose}
            />
          ))}
        </div>
      )}
      {syntheses.map(answer => (
        <Synthesis
          key={answer.id}
          answer={answer}
          turn={turn}
          canChoose={canChoose}
        />
      ))}
      <div className="da-answers-acts">
        {canStop && (
          <button
            type="button"
            className="da-button"
            onClick={() => model.answers.stop()}
          >
            Stop
          </button>
        )}
        {canSynthesise(store, turn) && (
          <button
            type="button"
            className="da-button"
            data-testid="da-synthesise"
            title="One answer that says where these agree and where they differ, and cites each"
            onClick={() => model.answers.synthesise(turn.id)}
          >
            {syntheses.length ? 'Synthesise again' : 'Synthesise'}
          </button>
        )}
      </div>
      {hasOwnAnswer(turn) &&
        (completeAnswers(turn).length > 0 || syntheses.length > 0) && (
          <ContinueFrom turn={turn} />
        )}
      {!!turn.compare && turn.status !== 'running' && !isLast(store, turn) && (
        <WentOnFrom turn={turn} />
      )}
    </>
  );
}
