import React from 'react';

import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** The model that answers questions about the past; its own, apart from the conversation's. */
export function StrategistModel(): JSX.Element {
  const { model } = usePanel();
  const chosen = useValue(model.strategist.model);
  const reply = useValue(model.models);
  const ready = (reply?.models ?? []).filter(each => each.ready);
  const others = ready.some(({ id }) => id === chosen) || !chosen;
  return (
    <select
      className="da-field da-strategist-model"
      aria-label="Strategist model"
      data-testid="da-strategist-model"
      value={chosen ?? ''}
      onChange={event =>
        model.strategist.choose(event.target.value || undefined)
      }
    >
      <option value="">Default model</option>
      {!others && <option value={chosen}>{chosen}</option>}
      {ready.map(({ id, label }) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </select>
  );
}
