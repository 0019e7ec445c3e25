import {
  caretDownIcon,
  caretRightIcon,
  copyIcon
} from '@jupyterlab/ui-components';
import React, { memo, useId, useMemo, useState } from 'react';

import { IReadGroup, foldReads } from '../state/fold';
import {
  Entry,
  INoticeEntry,
  IReasoningEntry,
  ITurn,
  waitingIn
} from '../state/turn';
import { IReadable, useValue } from '../state/value';
import {
  abortWords,
  activityWords,
  doneAndNot,
  usageWords
} from '../state/words';
import { Approval, Question } from './Approval';
import { Elapsed } from './Elapsed';
import { IconButton } from './IconButton';
import { Markdown } from './Markdown';
import { ReadGroup } from './ReadGroup';
import { ToolLine } from './ToolLine';
import { useCellNumber, usePanel } from './context';

/** A message of the person and everything that came of it. */
export const TurnView = memo(
  (props: { turn: IReadable<ITurn> }): JSX.Element => {
    const turn = useValue(props.turn);
    const shown = useMemo(
      () => foldReads(withoutAsked(turn.entries)),
      [turn.entries]
    );
    const isRunning = turn.status === 'running';
    return (
      <article
        className="da-turn"
        data-turn={turn.id}
        data-status={turn.status}
      >
        <UserMessage text={turn.message} />
        {shown.map((entry, index) => (
          <EntryView
            key={entry.id}
            entry={entry}
            target={turn.target}
            isGrowing={
              isRunning &&
              index === shown.length - 1 &&
              turn.activity.kind === 'writing'
            }
          />
        ))}
        {isRunning ? <Working turn={turn} /> : <Foot turn={turn} />}
      </article>
    );
  }
);

/** A call that waits for approval does nothing yet: the question stands for it. */
function withoutAsked(entries: readonly Entry[]): readonly Entry[] {
  const asked = new Set(
    entries.map(entry =>
      entry.kind === 'approval' && !entry.decision ? entry.callId : undefined
    )
  );
  return entries.filter(entry => entry.kind !== 'tool' || !asked.has(entry.id));
}

/** What the person wrote. */
export const UserMessage = memo(
  (props: { text: string }): JSX.Element | null => {
    return props.text ? (
      <div className="da-user" data-testid="da-message" data-role="user">
        <span className="da-hidden">You: </span>
        {props.text}
      </div>
    ) : null;
  }
);

const EntryView = memo(
  (props: {
    entry: Entry | IReadGroup;
    target?: string;
    isGrowing: boolean;
  }): JSX.Element | null => {
    const { entry, target } = props;
    switch (entry.kind) {
      case 'text':
        return entry.text.trim() ? (
          <div
            className="da-assistant"
            data-testid="da-message"
            data-role="assistant"
          >
            <Markdown text={entry.text} isGrowing={props.isGrowing} />
          </div>
        ) : null;
      case 'reasoning':
        return <Reasoning entry={entry} />;
      case 'tool':
        return <ToolLine call={entry} target={target} />;
      case 'reads':
        return <ReadGroup group={entry} target={target} />;
      case 'approval':
        return <Approval entry={entry} target={target} />;
      case 'question':
        return <Question entry={entry} />;
      case 'notice':
        return <Notice entry={entry} />;
    }
  }
);

const Reasoning = memo(
  (props: { entry: IReasoningEntry }): JSX.Element | null => {
    const [isOpen, setOpen] = useState(false);
    const id = useId();
    const { text } = props.entry;
    if (!text.trim()) {
      return null;
    }
    const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
    return (
      <div className="da-reasoning">
        <button
          type="button"
          className="da-tool-line"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <span className="da-tool-words">Reasoning</span>
          <Caret tag="span" className="da-caret" aria-hidden="true" />
        </button>
        {isOpen && (
          <div className="da-reasoning-text" id={id}>
            {text}
          </div>
        )}
      </div>
    );
  }
);

const Notice = memo((props: { entry: INoticeEntry }): JSX.Element => {
  const { entry } = props;
  return (
    <div className={`da-notice da-mod-${entry.level}`} role="alert">
      {entry.message}
      {entry.level === 'error' && <ErrorHelp code={entry.code} />}
    </div>
  );
});

/** What to do about an error, as a button where there is one. */
function ErrorHelp(props: { code: string }): JSX.Element | null {
  const { model } = usePanel();
  if (props.code === 'no_model') {
    return (
      <button
        type="button"
        className="da-button"
        onClick={() => void model.refreshModels()}
      >
        Look for a model again
      </button>
    );
  }
  return null;
}

/** What goes on, in words, unless a tool call at the end says so already. */
function Working(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const words = activityWords(turn, useCellNumber(turn.target));
  const last = turn.entries[turn.entries.length - 1];
  const isSaid =
    waitingIn(turn).length > 0 ||
    (last?.kind === 'tool' &&
      last.status === 'running' &&
      turn.activity.kind === 'tools');
  if (isSaid) {
    return null;
  }
  return (
    <div className="da-working">
      <span className="da-working-dot" aria-hidden="true" />
      {words}
      <Elapsed since={turn.startedAt} />
    </div>
  );
}

/** How the turn ended and what it took. */
function Foot(props: { turn: ITurn }): JSX.Element {
  const { turn } = props;
  const { model } = usePanel();
  const hasError = turn.entries.some(
    entry => entry.kind === 'notice' && entry.level === 'error'
  );
  const isBroken = turn.status === 'aborted' && turn.abortReason === 'error';
  const canRetry =
    turn.entries.some(entry => entry.kind === 'notice' && entry.retryable) ||
    (isBroken && !hasError);
  const reply = turn.entries
    .map(entry => (entry.kind === 'text' ? entry.text : ''))
    .filter(text => text.trim())
    .join('\n\n');
  return (
    <>
      {turn.status === 'aborted' && !(isBroken && hasError) && (
        <Stopped turn={turn} />
      )}
      {canRetry && turn.message && (
        <div className="da-buttons">
          <button
            type="button"
            className="da-button"
            onClick={() => void model.send(turn.message)}
          >
            Try again
          </button>
        </div>
      )}
      <footer className="da-foot">
        <span>{usageWords(turn.usage, turn.durationMs)}</span>
        {reply && (
          <IconButton
            icon={copyIcon}
            label="Copy the answer"
            className="da-foot-button"
            onClick={() => void navigator.clipboard?.writeText(reply)}
          />
        )}
      </footer>
    </>
  );
}

function Stopped(props: { turn: ITurn }): JSX.Element {
  const { turn } = props;
  const { done, not } = doneAndNot(turn, useCellNumber(turn.target));
  return (
    <div className="da-stopped">
      <div>{abortWords(turn)}</div>
      {(done.length > 0 || not.length > 0) && (
        <ul>
          <li>Done before: {done.length ? done.join('; ') : 'nothing'}.</li>
          {not.length > 0 && <li>Not finished: {not.join('; ')}.</li>}
        </ul>
      )}
      {done.length === 0 && not.length === 0 && (
        <div>Nothing was changed or run.</div>
      )}
    </div>
  );
}
