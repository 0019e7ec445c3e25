import React from 'react';

import { modelName } from './answersController';
import { ITurn } from '../../session/turn';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** What the session went on from. */
export function WentOnFrom(props: { turn: ITurn }): JSX.Element | null {
  const { model } = usePanel();
  const { turn } = props;
  const reply = useValue(model.models);
  const chosen = turn.answers.find(({ id }) => id === turn.chosen);
  const own = turn.model ? modelName(reply, turn.model) : 'the first answer';
  if (!chosen && turn.compare) {
    return null;
  }
  const name = !chosen
    ? own
    : chosen.sources
      ? 'the synthesis'
      : modelName(reply, chosen.model);
  return (
    <div className="da-go-on" data-testid="da-went-on">
      Continued from {name}.
    </div>
  );
}
