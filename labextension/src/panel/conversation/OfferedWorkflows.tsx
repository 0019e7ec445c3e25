import React, { useId, useState } from 'react';

import { WorkflowOffer } from '../../api/types';
import { ITurn } from '../../session/turn';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** Under the newest turn, where no model could answer: what is close and needs none, by a click. */
export function OfferedWorkflows(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { turnIds, runningTurnId } = useValue(store.conversation);
  const id = useId();
  const { workflows } = turn;
  const isNewest = turnIds[turnIds.length - 1] === turn.id && !runningTurnId;
  if (!isNewest || !workflows.length) {
    return null;
  }
  return (
    <section
      className="da-fixes"
      aria-labelledby={id}
      data-testid="da-offered-workflows"
    >
      <h3 id={id}>
        Nothing was started. A similar workflow that needs no model:
      </h3>
      {workflows.map(offer => (
        <Offer key={offer.id} offer={offer} />
      ))}
    </section>
  );
}

function Offer(props: { offer: WorkflowOffer }): JSX.Element {
  const { id, name, description, missing } = props.offer;
  const { toolsPanel } = usePanel().model;
  const [isSent, setSent] = useState(false);
  const parameters = props.offer.parameters ?? {};
  const run = async () => {
    setSent(true);
    setSent(await toolsPanel.workflows.run({ id, name }, parameters));
  };
  return (
    <div className="da-offer">
      <p>
        <strong>{name}</strong>
        {formatParameters(parameters)}
      </p>
      <p className="da-dim">{description}</p>
      <div className="da-buttons">
        {!missing?.length && (
          <button
            type="button"
            className="da-button da-mod-primary"
            data-testid="da-run-workflow"
            disabled={isSent}
            onClick={() => void run()}
          >
            Run
          </button>
        )}
        <button
          type="button"
          className="da-button"
          data-testid="da-fill-in-workflow"
          disabled={isSent}
          onClick={() => toolsPanel.showWorkflow(id, parameters)}
        >
          {missing?.length ? 'Fill in and run' : 'Change parameters'}
        </button>
      </div>
    </div>
  );
}

/** " · data cars.csv, target Horsepower" */
function formatParameters(parameters: Record<string, unknown>): string {
  const known = Object.entries(parameters).map(
    ([name, value]) => `${name} ${String(value)}`
  );
  return known.length ? ` · ${known.join(', ')}` : '';
}
