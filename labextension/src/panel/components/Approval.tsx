import React, { memo, useEffect, useId, useRef, useState } from 'react';

import { ShareRequest } from '../../api/types';
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

const SHARED = {
  approve: 'Sent to the model, as you allowed',
  approve_for_session: 'Sent to the model, and later ones in this session',
  deny: 'Kept from the model by you',
  expired: 'Kept from the model: nobody answered in time',
  aborted: 'Not sent to the model'
};

/** What the buttons say for an act, and where something would be sent to the model. */
const ACT = {
  yes: 'Approve',
  yesForSession: 'Approve for this session',
  no: 'Deny',
  noWithReason: 'Deny with a reason'
};
const SHARE = {
  yes: 'Send',
  yesForSession: 'Send in this session',
  no: 'Keep here',
  noWithReason: null
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
          {decidedWords(entry.decision, what, !!entry.share)}
        </div>
      );
    }
    const decide: Decide = (decision, feedback) => {
      setSent(true);
      model.decide(entry.id, decision, feedback);
      // Where the answer did not get through, it can be given again.
      setTimeout(() => setSent(false), 3000);
    };
    if (entry.share) {
      const kinds = sharedKinds(entry.share);
      return (
        <section className="da-waiting" aria-labelledby={id}>
          <h3 id={id}>Send {kinds} to the model?</h3>
          <p>{shareReason(entry, what)}</p>
          <LongText
            text={pretty(entry.share.text)}
            label="What would be sent"
          />
          <Answers
            words={SHARE}
            forSession={`Sends this, and ${kinds} in this session from now on, without asking again, until the server restarts.`}
            isSent={isSent}
            decide={decide}
          />
        </section>
      );
    }
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
        <Answers
          words={ACT}
          forSession={`Approves this, and every later ${covered(entry)} in this session without asking again, until the server restarts.`}
          isSent={isSent}
          decide={decide}
        />
      </section>
    );
  }
);

/** Approve, approve for the session, deny; and a field for the reason, on demand. */
function Answers(props: {
  words: typeof ACT | typeof SHARE;
  forSession: string;
  isSent: boolean;
  decide: Decide;
}): JSX.Element {
  const { words, forSession, isSent, decide } = props;
  const [feedback, setFeedback] = useState('');
  const [hasReason, setHasReason] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const id = useId();
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
          {words.yes}
        </button>
        <button
          type="button"
          className="da-button"
          title={forSession}
          aria-describedby={`${id}-session`}
          disabled={isSent}
          onClick={() => decide('approve_for_session')}
        >
          {words.yesForSession}
        </button>
        <button
          type="button"
          className="da-button"
          data-testid="da-deny"
          disabled={isSent}
          onClick={() => decide('deny', feedback)}
        >
          {words.no}
        </button>
        {words.noWithReason && (
          <button
            type="button"
            className="da-link"
            ref={opener}
            aria-expanded={hasReason}
            aria-controls={`${id}-reason`}
            onClick={() => setHasReason(!hasReason)}
          >
            {words.noWithReason}
          </button>
        )}
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

/** What an approval for the session covers: this tool, with these kinds of act. */
function covered(entry: IApprovalEntry): string {
  const tool = `“${askWords({ name: entry.name, arguments: {} }, () => null)}”`;
  if (entry.kinds?.length) {
    return `${tool} that ${entry.kinds.join(' or ')}`;
  }
  return entry.destructive
    ? tool
    : `${tool} that reaches nothing outside the notebook`;
}

/** What became of a question. */
function decidedWords(
  decision: NonNullable<IApprovalEntry['decision']>,
  what: string,
  isShare: boolean
): string {
  if (isShare) {
    return SHARED[decision];
  }
  return decision === 'aborted' ? `${what}: not done` : DECIDED[decision];
}

/** What is about to be sent: outputs, or rows of data, or both. */
function sharedKinds(share: ShareRequest): string {
  const words = { outputs: 'outputs', row_data: 'rows of data' };
  return share.kinds.map(kind => words[kind]).join(' and ');
}

function shareReason(entry: IApprovalEntry, what: string): string {
  const pictures = entry.share?.pictures ?? 0;
  const along =
    pictures > 0
      ? ` ${pictures} ${pictures === 1 ? 'picture goes' : 'pictures go'} along.`
      : '';
  return entry.callId
    ? `“${what}” is done. This is all that the model would read of it.${along}`
    : 'Your message takes this along, as it stands below.';
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
