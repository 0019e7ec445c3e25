import React, { useEffect, useId, useRef, useState } from 'react';

import { CodePart, ShareRequest } from '../api/types';
import { approvalLabel, CellNumber } from '../session/callLabels';
import { IApprovalEntry } from '../session/turn';
import { LongText } from '../ui/LongText';
import { pretty } from '../ui/pretty';

const DECIDED = {
  approve: 'You approved',
  approve_for_session: 'You approved for this session',
  deny: 'You declined',
  expired: 'Declined: no answer in time'
};

const SHARED = {
  approve: 'Sent to the model, as you approved',
  approve_for_session: 'Sent to the model for the rest of this session',
  deny: 'You declined to send it',
  expired: 'Not sent to the model: no answer in time',
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
  no: "Don't send",
  noWithReason: null
};

/** What becomes of it; with why, where it is denied. */
export type Decide = (
  decision: 'approve' | 'approve_for_session' | 'deny',
  feedback?: string
) => void;

/**
 * An act that waits for the user: what, why, what it changes, and the answer; or, decided on, what
 * became of it. `title` and `changes` are shown for the act and its arguments where they are known.
 */
export function Approval(props: {
  entry: IApprovalEntry;
  cellNumber: CellNumber;
  title?: JSX.Element | null;
  changes?: JSX.Element | null;
  decide: Decide;
}): JSX.Element {
  const { entry, title, changes } = props;
  const [isSent, setSent] = useState(false);
  const id = useId();
  const what = approvalLabel(entry, props.cellNumber);
  // That cells are changed or removed is seen below; what code does beyond them is not.
  const isSeen =
    entry.changes.length > 0 &&
    entry.destructive &&
    !entry.kinds?.length &&
    !entry.again;
  if (entry.decision) {
    return (
      <div className="da-decided" data-decision={entry.decision}>
        {decisionLabel(entry.decision, what, !!entry.share)}
      </div>
    );
  }
  const decide: Decide = (decision, feedback) => {
    setSent(true);
    props.decide(decision, feedback);
    // Where the answer did not get through, it can be given again.
    setTimeout(() => setSent(false), 3000);
  };
  if (entry.share) {
    const kinds = sharedKinds(entry.share);
    return (
      <section className="da-waiting" aria-labelledby={id}>
        <h3 id={id}>Send {kinds} to the model?</h3>
        <p>{shareReason(entry, what)}</p>
        <LongText text={pretty(entry.share.text)} label="What will be sent" />
        <Answers
          labels={SHARE}
          forSession={`Sends this and later ${kinds} in this session without asking again, until the server restarts.`}
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
      {entry.act ? (
        <>
          <h3 id={id}>{entry.reason}</h3>
          <p>The code is running, and waits for your answer.</p>
        </>
      ) : (
        <>
          <h3 id={id}>{title ?? what}?</h3>
          {!isSeen && <p>{entry.reason}</p>}
          {changes ?? (
            <>
              {entry.code?.map((part, index) => (
                <Code key={index} part={part} />
              ))}
              {!entry.code && <Details entry={entry} />}
            </>
          )}
        </>
      )}
      <Answers
        labels={ACT}
        forSession={`Approves this and every later ${covered(entry)} in this session without asking again, until the server restarts.`}
        isSent={isSent}
        decide={decide}
      />
    </section>
  );
}

/** Approve, approve for the session, deny; and a field for the reason, on demand. */
function Answers(props: {
  labels: typeof ACT | typeof SHARE;
  forSession: string;
  isSent: boolean;
  decide: Decide;
}): JSX.Element {
  const { labels, forSession, isSent, decide } = props;
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
          {labels.yes}
        </button>
        <button
          type="button"
          className="da-button"
          title={forSession}
          aria-describedby={`${id}-session`}
          disabled={isSent}
          onClick={() => decide('approve_for_session')}
        >
          {labels.yesForSession}
        </button>
        <button
          type="button"
          className="da-button"
          data-testid="da-deny"
          disabled={isSent}
          onClick={() => decide('deny', feedback)}
        >
          {labels.no}
        </button>
        {labels.noWithReason && (
          <button
            type="button"
            className="da-link"
            ref={opener}
            aria-expanded={hasReason}
            aria-controls={`${id}-reason`}
            onClick={() => setHasReason(!hasReason)}
          >
            {labels.noWithReason}
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
          aria-label="Reason for denying (optional)"
          placeholder="Why not? Press Enter to deny"
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
  const tool = `“${approvalLabel({ ...entry, arguments: {} }, () => null)}”`;
  if (entry.kinds?.length) {
    return `${tool} that ${entry.kinds.join(' or ')}`;
  }
  const isFile = entry.changes.some(
    ({ cellId, op }) => !cellId && op !== 'insert'
  );
  return entry.destructive || isFile
    ? tool
    : `${tool} that affects nothing outside the document`;
}

/** What became of a question. */
function decisionLabel(
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
  const labels = { outputs: 'outputs', row_data: 'data rows' };
  return share.kinds.map(kind => labels[kind]).join(' and ');
}

function shareReason(entry: IApprovalEntry, what: string): string {
  const pictures = entry.share?.pictures ?? 0;
  const along =
    pictures > 0
      ? ` ${pictures} ${pictures === 1 ? 'picture is' : 'pictures are'} included.`
      : '';
  return entry.callId
    ? `“${what}” has run. The model would see only this.${along}`
    : 'This is sent with your message.';
}

/** The text that would run, under the name of its cell. */
function Code({ part }: { part: CodePart }): JSX.Element {
  return (
    <figure className="da-code-part">
      <figcaption>{part.subject}</figcaption>
      <LongText text={part.source} label={`The code of ${part.subject}`} />
    </figure>
  );
}

/**
 * The arguments: code as it is, and all others, which may say where it goes. Cells that the title
 * names are no news.
 */
function Details({ entry }: { entry: IApprovalEntry }): JSX.Element {
  const { code, rest } = partsOf(entry.arguments, !!entry.isForeign);
  return (
    <>
      {code && <LongText text={code} label="The code" />}
      {rest && <LongText text={rest} label="Details" />}
    </>
  );
}

const NAMED_IN_TITLE = ['cellId', 'cellIds'];

function partsOf(value: unknown, isForeign: boolean) {
  if (!isRecord(value)) {
    return { code: '', rest: pretty(value) };
  }
  const { code, ...others } = value;
  const rest = Object.fromEntries(
    Object.entries(others).filter(
      ([name]) => isForeign || !NAMED_IN_TITLE.includes(name)
    )
  );
  return typeof code === 'string'
    ? { code, rest: pretty(rest) }
    : { code: '', rest: pretty({ code, ...rest }) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
