import React from 'react';

import { ModelInfo } from '../../api/types';
import { useValue } from '../state/value';
import { usePanel } from './context';

/** The models, those that are not ready with the reason. */
export function ModelSelect(): JSX.Element {
  const { model } = usePanel();
  const reply = useValue(model.models);
  const { model: chosen } = useValue(model.choices);
  const models = reply?.models ?? [];
  const current = chosen ?? reply?.default ?? '';
  const isListed = models.some(({ id }) => id === current);
  return (
    <select
      className="da-select da-model"
      data-testid="da-model-select"
      aria-label="Model"
      title={current || 'No model'}
      value={current}
      onChange={event => model.setModel(event.target.value)}
      onFocus={() => void model.refreshModels()}
    >
      {!isListed && <option value={current}>{current || 'No model'}</option>}
      {models.map(info => (
        <option key={info.id} value={info.id} disabled={!info.ready}>
          {labelOf(info)}
        </option>
      ))}
    </select>
  );
}

function labelOf({ label, ready, reason }: ModelInfo): string {
  return ready ? label : `${label} (${reason ?? 'not ready'})`;
}
