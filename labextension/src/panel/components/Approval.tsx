import React, { memo, useEffect, useId, useRef, useState } from 'react';

import { IApprovalEntry } from '../state/turn';
import { pretty } from '../state/pretty';
import { askWords } from '../state/words';
import { ChangeList } from './ChangeList';
import { LongText } from './LongText';
import { useCellNumber, usePanel } from './context';

const DECIDED = {
  approve: 'Allowed by you',
  approve_for_session: 'Allowed by you for this session',
  deny: 'Not allowed by you',
  expired: 'Not allowed: nobody answered in time'
};

type Decide = (
  decision: 'approve' | 'approve_for_session' | 'deny',
  feedback?: string
) => void;

/** An act that waits for the person: what, why, the diff, and the answer. */
export const Approval = memo(
  (props: { entry: IApprovalEntry; target?: string }): JSX.Element => {
    const { entry } = props;
    const { model } = usePanel();
    const [isSent, setSent] = useState(false);
    const id = useId();
    const what = askWords(entry, useCellNumber(props.target));
    if (entry.decision) {
      return (
        <div className="da-decided" data-decision={entry.decision}>
          {entry.decision === 'aborted'
            ? `${what}: not done`
            : DECIDED[entry.decision]}
        </div>
      );
    }
    const decide: Decide = (decision, feedback) => {
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
        <Answers name={entry.name} isSent={isSent} decide={decide} />
      </section>
    );
  }
);

/** Approve, approve for the session, deny; and a field for the reason, on demand. */
function Answers(props: {
  name: string;
  isSent: boolean;
  decide: Decide;
}): JSX.Element {
  const { name, isSent, decide } = props;
  const [feedback, setFeedback] = useState('');
  const [hasReason, setHasReason] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
  // The server remembers the tool, whatever its arguments, as long as it runs.
  const all = askWords({ name, arguments: {} }, () => null);
  const forSession =
    `Approves this, and every later “${all}” in this conversation ` +
    'without asking again, until the server restarts.';
  useEffect(() => {
    if (hasReason) {
      field.current?.focus();
    }
  }, [hasReason]);
  const onKey = (event: React.KeyboardEvent) => {
    if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
      decide('deny', feedback);
    } else if (event.key === 'Escape') {
      // Only the field closes: Escape in the panel would stop the turn.
      event.stopPropagation();
      setHasReason(false);
      opener.current?.focus();
    }
  };
  return (
    <>
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
          title={forSession}
          aria-describedby={`${id}-session`}
          disabled={isSent}
          onClick={() => decide('approve_for_session')}
        >
          Approve for this session
        </button>
        <button
          type="button"
          className="da-button"
          data-testid="da-deny"
          disabled={isSent}
          onClick={() => decide('deny', feedback)}
        >
          Deny
        </button>
        <button
          type="button"
          className="da-link"
          ref={opener}
          aria-expanded={hasReason}
          aria-controls={`${id}-reason`}
          onClick={() => setHasReason(!hasReason)}
        >
          Deny with a reason
        </button>
      </div>
      <span className="da-hidden" id={`${id}-session`}>
        {forSession}
      </span>
      {hasReason && (
        <input
          className="da-field"
          id={`${id}-reason`}
          ref={field}
          aria-label="Reason, if you do not allow it"
          placeholder="Why not? Enter denies"
          value={feedback}
          onChange={event => setFeedback(event.target.value)}
          onKeyDown={onKey}
        />
      )}
    </>
  );
}

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
