import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
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
import { activityWords } from '../state/words';
import { Approval, Question } from './Approval';
import { Elapsed } from './Elapsed';
import { Markdown } from './Markdown';
import { ReadGroup } from './ReadGroup';
import { ToolLine } from './ToolLine';
import { TurnFoot } from './TurnFoot';
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
    const running = runningCall(turn);
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
            doing={
              entry === running && turn.activity.kind === 'words'
                ? turn.activity.message
                : undefined
            }
          />
        ))}
        {isRunning ? <Working turn={turn} /> : <TurnFoot turn={turn} />}
      </article>
    );
  }
);

/** The call that runs now, if one does. */
function runningCall(turn: ITurn): Entry | undefined {
  return turn.entries
    .filter(entry => entry.kind === 'tool' && entry.status === 'running')
    .pop();
}

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
      <div>
        <span className="da-hidden">You: </span>
        <div className="da-user" data-testid="da-message" data-role="user">
          {props.text}
        </div>
      </div>
    ) : null;
  }
);

const EntryView = memo(
  (props: {
    entry: Entry | IReadGroup;
    target?: string;
    isGrowing: boolean;
    doing?: string;
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
        return <ToolLine call={entry} target={target} doing={props.doing} />;
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
  const isSaid = waitingIn(turn).length > 0 || !!runningCall(turn);
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
