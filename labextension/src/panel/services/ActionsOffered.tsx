import React from 'react';

import { IActionsOfferedEntry } from '../../session/turn';
import { usePanel } from '../context';

/** What a message may ask for: a click sends it again for that. Nothing was proposed yet. */
export function ActionsOffered(props: {
  entry: IActionsOfferedEntry;
  message: string;
}): JSX.Element {
  const { entry, message } = props;
  const { model } = usePanel();
  return (
    <section
      className="da-actions-offered"
      aria-label="Did you mean"
      data-testid="da-actions-offered"
    >
      <p>{entry.text}</p>
      <ul>
        {entry.offers.map(({ service, subcommand, title, description }) => (
          <li key={`${service} ${subcommand}`}>
            <button
              type="button"
              className="da-help-example"
              title={description}
              onClick={() =>
                void model.services.correct(message, { service, subcommand })
              }
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
