import React, { useState } from 'react';

import { cellOf } from './strategistController';
import { useValue } from '../../session/observable';
import { CardFrame } from '../toolsPanel/CardFrame';
import { Elapsed } from '../../ui/Elapsed';
import { Markdown } from '../conversation/Markdown';
import { StrategistModel } from './StrategistModel';
import { usePanel } from '../context';

/** A question about earlier sessions, with its answer, under the conversation. */
export function StrategistCard(): JSX.Element {
  const { model } = usePanel();
  const { strategist, scratchpad } = model;
  const asked = useValue(strategist.asked);
  const answer = asked?.answer;
  return (
    <CardFrame title="Strategist" testId="da-strategist" takesFocus>
      {asked && <p className="da-strategist-question">{asked.question}</p>}
      {asked?.isAsking && (
        <div className="da-working" role="status">
          <span className="da-working-dot" aria-hidden="true" />
          Searching earlier sessions
          <Elapsed since={asked.since} />
        </div>
      )}
      {asked?.problem && (
        <div className="da-notice da-mod-error" role="alert">
          {asked.problem}
        </div>
      )}
      {asked && answer && (
        <>
          <div className="da-strategist-answer" aria-live="polite">
            <Markdown text={answer.reply} isGrowing={false} />
          </div>
          <button
            type="button"
            className="da-link"
            onClick={() => void scratchpad.send(cellOf(asked.question, answer))}
          >
            Send to scratchpad
          </button>
        </>
      )}
      <Ask isBusy={!!asked?.isAsking} />
    </CardFrame>
  );
}

/** The next question, and which model answers it. */
function Ask(props: { isBusy: boolean }): JSX.Element {
  const { strategist } = usePanel().model;
  const [question, setQuestion] = useState('');
  const ask = () => {
    if (question.trim() && !props.isBusy) {
      void strategist.ask(question);
      setQuestion('');
    }
  };
  return (
    <form
      className="da-strategist-form"
      onSubmit={event => {
        event.preventDefault();
        ask();
      }}
    >
      <input
        className="da-field"
        aria-label="Question about earlier sessions"
        placeholder="Ask about earlier sessions"
        value={question}
        disabled={props.isBusy}
        onChange={event => setQuestion(event.target.value)}
      />
      <div className="da-buttons">
        <StrategistModel />
        <button
          type="submit"
          className="da-button"
          disabled={props.isBusy || !question.trim()}
        >
          Ask
        </button>
      </div>
    </form>
  );
}
