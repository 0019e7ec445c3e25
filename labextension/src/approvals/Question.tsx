import React, { useId, useState } from 'react';

import { IQuestionEntry } from '../session/turn';

/** Options that stand side by side at most; more are a list. */
const MOST_BUTTONS = 6;

/** What the input for an answer says that it is for. */
export function answerPlaceholder({ options }: IQuestionEntry): string {
  return options.length > MOST_BUTTONS
    ? 'Search or type your own answer'
    : options.length
      ? 'Or type your own answer'
      : 'Your answer';
}

/** A question of the agent: its options, or an answer in words. */
export function Question(props: {
  entry: IQuestionEntry;
  /** What is in an input that is there anyway; without one, it has its own. */
  typed?: string;
  answer: (text: string) => void;
}): JSX.Element {
  const { entry } = props;
  const [text, setText] = useState('');
  const [isSent, setSent] = useState(false);
  const id = useId();
  const isLong = entry.options.length > MOST_BUTTONS;
  // In a long list, what is typed narrows it.
  const typed = (props.typed ?? text).trim().toLowerCase();
  const offered = entry.options.filter(
    option => !isLong || option.toLowerCase().includes(typed)
  );
  const answer = (text: string) => {
    if (text.trim()) {
      setSent(true);
      props.answer(text.trim());
      setTimeout(() => setSent(false), 3000);
    }
  };
  return (
    <section
      className={entry.open ? 'da-waiting' : 'da-asked'}
      aria-labelledby={id}
    >
      <h3 id={id}>{entry.question}</h3>
      {entry.answer && <div className="da-answered">{entry.answer}</div>}
      {entry.open && (
        <>
          <div className={isLong ? 'da-buttons da-option-list' : 'da-buttons'}>
            {offered.map(option => (
              <button
                key={option}
                type="button"
                className="da-button"
                disabled={isSent}
                onClick={() => answer(option)}
              >
                {option}
              </button>
            ))}
          </div>
          {props.typed === undefined && (
            <form
              className="da-answer"
              onSubmit={event => {
                event.preventDefault();
                answer(text);
              }}
            >
              <input
                className="da-field"
                aria-label="Your answer"
                placeholder={answerPlaceholder(entry)}
                value={text}
                onChange={event => setText(event.target.value)}
              />
              <button
                type="submit"
                className="da-button da-mod-primary"
                disabled={isSent || !text.trim()}
              >
                Answer
              </button>
            </form>
          )}
        </>
      )}
    </section>
  );
}
