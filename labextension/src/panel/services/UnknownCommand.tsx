import React from 'react';

import { usePanel } from '../context';

/** Under the answer to an unknown command: a button that sends the message as text. */
export function UnknownCommand(props: { message: string }): JSX.Element {
  const { model } = usePanel();
  return (
    <div className="da-buttons">
      <button
        type="button"
        className="da-button"
        data-testid="da-send-as-text"
        onClick={() => void model.services.correct(props.message, {})}
      >
        Send as a message
      </button>
    </div>
  );
}
