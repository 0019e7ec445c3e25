import React, { useId } from 'react';

import { isLast, modelName } from './answersController';
import { WentOnFrom } from './WentOnFrom';
import { IAnswer, ITurn } from '../../session/turn';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** Beside the turn's own answer: which one counts, while nothing was said after it; later, which did. */
export function ContinueFrom(props: { turn: ITurn }): JSX.Element | null {
  const { model } = usePanel();
  const { turn } = props;
  const { store } = useValue(model.shown);
  useValue(store.conversation);
  const reply = useValue(model.models);
  const group = useId();
  const answers = turn.answers.filter(({ status }) => status === 'completed');
  const chosen = answers.find(({ id }) => id === turn.chosen);
  const first = turn.model ? modelName(reply, turn.model) : 'the first answer';
  if (!isLast(store, turn)) {
    return <WentOnFrom turn={turn} />;
  }
  return (
    <fieldset className="da-go-on" data-testid="da-go-on">
      <legend>Continue from</legend>
      {[{ id: undefined, name: first }, ...named(answers, reply)].map(
        ({ id, name }) => (
          <label key={id ?? ''}>
            <input
              type="radio"
              name={group}
              checked={id === chosen?.id}
              onChange={() => model.answers.choose(turn.id, id)}
            />
            {name}
          </label>
        )
      )}
    </fieldset>
  );
}

/** The answers by their models; one that answered twice has a number. */
function named(
  answers: readonly IAnswer[],
  reply: Parameters<typeof modelName>[0]
): { id: string; name: string }[] {
  const nameOf = ({ model, sources }: IAnswer) =>
    sources ? 'Synthesis' : modelName(reply, model);
  return answers.map((answer, index) => {
    const name = nameOf(answer);
    const same = answers.filter(other => nameOf(other) === name);
    const before = answers
      .slice(0, index + 1)
      .filter(other => nameOf(other) === name);
    const number = same.length > 1 ? ` (${before.length})` : '';
    return { id: answer.id, name: `${name}${number}` };
  });
}
