import React, { memo, useId, useState } from 'react';

import { IQuestionEntry } from '../../session/turn';
import { usePanel } from '../context';

/** Options that stand side by side at most; more are a list. */
const MOST_BUTTONS = 6;

/** A question of the agent: its options, or an answer in words. */
export const Question = memo(
  (props: { entry: IQuestionEntry }): JSX.Element => {
    const { entry } = props;
    const { model } = usePanel();
    const [text, setText] = useState('');
    const [isSent, setSent] = useState(false);
    const id = useId();
    const isLong = entry.options.length > MOST_BUTTONS;
    // In a long list, what is typed narrows it.
    const typed = text.trim().toLowerCase();
    const offered = entry.options.filter(
      option => !isLong || option.toLowerCase().includes(typed)
    );
    const answer = (words: string) => {
      if (words.trim()) {
        setSent(true);
        model.answer(entry.id, words.trim());
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
            <div
              className={isLong ? 'da-buttons da-option-list' : 'da-buttons'}
            >
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
                placeholder={
                  isLong
                    ? 'Search or type your own answer'
                    : entry.options.length
                      ? 'Or type your own answer'
                      : 'Your answer'
                }
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
          </>
        )}
      </section>
    );
  }
);
