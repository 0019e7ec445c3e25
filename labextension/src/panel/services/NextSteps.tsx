import React, { useMemo } from 'react';

import { ITurn, textsOf } from '../../session/turn';
import { useComposer } from '../composer/composerContext';

const MESSAGE = /`((?:\/[a-z][\w-]*|agent:)[ \t]+[^`\s][^`\n]*)`/gi;
const MOST = 12;

/** Under a service's answer: each message that it quotes, to be put into the input by a click. */
export function NextSteps(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const composer = useComposer();
  const messages = useMemo(() => messagesIn(textsOf(turn)), [turn]);
  if (!messages.length) {
    return null;
  }
  return (
    <div className="da-next-steps" role="group" aria-label="Begin with">
      {messages.map(message => (
        <button
          key={message}
          type="button"
          className="da-help-example"
          aria-label={`Put into the input: ${message}`}
          onClick={() => composer.write(message)}
        >
          {message}
        </button>
      ))}
    </div>
  );
}

/** What these texts quote as messages to send: a command with its text, or a task to plan. */
export function messagesIn(texts: readonly string[]): string[] {
  const found = texts.flatMap(text =>
    [...text.matchAll(MESSAGE)].map(match => match[1].trim())
  );
  return [...new Set(found)].slice(0, MOST);
}
