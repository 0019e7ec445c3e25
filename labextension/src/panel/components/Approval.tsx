import React, { memo, useId, useState } from 'react';

import { IApprovalEntry, IQuestionEntry } from '../state/turn';
import { pretty } from '../state/pretty';
import { askWords } from '../state/words';
import { ChangeList } from './ChangeList';
import { LongText } from './LongText';
import { useCellNumber, usePanel } from './context';

const DECIDED = {
  approve: 'Allowed by you',
  approve_for_session: 'Allowed by you for this session',
  deny: 'Not allowed by you',
  expired: 'Not allowed: nobody answered in time',
  aborted: 'Stopped before you answered'
};

/** An act that waits for the person: what, why, the diff, and the answer. */
export const Approval = memo(
  (props: { entry: IApprovalEntry; target?: string }): JSX.Element => {
    const { entry } = props;
    const { model } = usePanel();
    const [feedback, setFeedback] = useState('');
    const [isSent, setSent] = useState(false);
    const id = useId();
    const what = askWords(entry, useCellNumber(props.target));
    if (entry.decision) {
      return (
        <div className="da-decided" data-decision={entry.decision}>
          {DECIDED[entry.decision]}
        </div>
      );
    }
    const decide = (decision: 'approve' | 'approve_for_session' | 'deny') => {
      setSent(true);
      model.decide(entry.id, decision, feedback);
      // Where the answer did not get through, it can be given again.
      setTimeout(() => setSent(false), 3000);
    };
    return (
      <section
        className="da-waiting"
        data-destructive={entry.destructive}
        aria-labelledby={id}
      >
        <h3 id={id}>{what}?</h3>
        <p>{entry.reason}</p>
        {entry.changes.length > 0 ? (
          <ChangeList changes={entry.changes} isProposed />
        ) : (
          <LongText text={codeOf(entry.arguments)} label="What it would do" />
        )}
        <input
          className="da-field"
          aria-label="Reason, if you do not allow it"
          placeholder="Reason, if you like"
          value={feedback}
          onChange={event => setFeedback(event.target.value)}
        />
        <div className="da-buttons">
          <button
            type="button"
            className="da-button da-mod-primary"
            data-testid="da-approve"
            disabled={isSent}
            onClick={() => decide('approve')}
          >
            Approve
          </button>
          <button
            type="button"
            className="da-button"
            disabled={isSent}
            onClick={() => decide('approve_for_session')}
          >
            For this session
          </button>
          <button
            type="button"
            className="da-button"
            data-testid="da-deny"
            disabled={isSent}
            onClick={() => decide('deny')}
          >
            Deny
          </button>
        </div>
      </section>
    );
  }
);

/** A question of the agent: its options, or an answer in words. */
export const Question = memo(
  (props: { entry: IQuestionEntry }): JSX.Element => {
    const { entry } = props;
    const { model } = usePanel();
    const [text, setText] = useState('');
    const [isSent, setSent] = useState(false);
    const id = useId();
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
            <div className="da-buttons">
              {entry.options.map(option => (
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
                  entry.options.length ? 'Or say it yourself' : 'Your answer'
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

/** The part of the arguments that says most: the code, or all of it. */
function codeOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const { code, content, source } = value as Record<string, unknown>;
    const text = code ?? content ?? source;
    if (typeof text === 'string') {
      return text;
    }
  }
  return pretty(value);
}
