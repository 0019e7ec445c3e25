import React from 'react';

import { ITurn, textsOf } from '../../session/turn';
import { usePanel } from '../context';

/** As the server begins its answer to a command that there is not. */
const UNKNOWN = /^There is no command `\/[\w-]+`/;

/** Under the answer to an unknown command: a button that sends it as text. */
export function UnknownCommand(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const { model } = usePanel();
  const isUnknown = turn.message.trimStart().startsWith('/') && hasReply(turn);
  return isUnknown ? (
    <div className="da-buttons">
      <button
        type="button"
        className="da-button"
        data-testid="da-send-as-text"
        onClick={() => void model.services.correct(turn.message, {})}
      >
        Send as a message
      </button>
    </div>
  ) : null;
}

function hasReply(turn: ITurn): boolean {
  const texts = textsOf(turn);
  return texts.length === 1 && UNKNOWN.test(texts[0]);
}
