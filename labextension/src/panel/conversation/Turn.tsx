import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React, { memo, useId, useMemo, useState } from 'react';

import { ICallGroup, foldCalls } from '../../session/foldCalls';
import {
  Entry,
  INoticeEntry,
  IReasoningEntry,
  ITurn,
  waitingIn
} from '../../session/turn';
import { IReadable, useValue } from '../../session/observable';
import { undoneLabel } from '../../session/undoLabels';
import { activityLabel } from '../../session/turnLabels';
import {
  planWaits,
  skippedProposals,
  waitingProposal
} from '../../session/plan';
import { ApprovalEntry } from './ApprovalEntry';
import { Compacted } from './Compacted';
import { CallGroup } from './CallGroup';
import { Conflicts } from '../changes/Conflicts';
import { Elapsed } from '../../ui/Elapsed';
import { OfferedFixes } from './Fixes';
import { FurtherAnswers } from '../answers/FurtherAnswers';
import { Markdown } from './Markdown';
import { KeptPlan } from '../plan/Plan';
import { OfferedWorkflows } from './OfferedWorkflows';
import { QuestionEntry } from './QuestionEntry';
import { useReadiness } from './Readiness';
import { Refused } from './Refused';
import { AttachActive, SwitchToAgent } from '../composer/ToolRequirements';
import { ActionsOffered } from '../services/ActionsOffered';
import { HelpList } from '../services/HelpList';
import { NextSteps } from '../services/NextSteps';
import { PanelActionRun, PanelProposal } from '../services/PanelActions';
import { RoutingLine } from '../services/RoutingLine';
import { UnknownCommand } from '../services/UnknownCommand';
import { ToolLine } from './ToolLine';
import { TurnFoot } from './TurnFoot';
import { TurnContext, useCellNumber } from '../context';

/** A message of the user and everything that came of it. */
export const TurnView = memo(
  (props: {
    turn: IReadable<ITurn>;
    isMarked?: boolean;
    isWithdrawn?: boolean;
  }): JSX.Element => {
    const turn = useValue(props.turn);
    const waitsFor = waitingProposal(turn);
    const skipped = skippedProposals(turn.plan);
    const isWorkflow = !!(turn.plan?.workflow ?? turn.workflow);
    const shown = useMemo(
      () => foldCalls(withoutRepeated(turn.entries, skipped), isWorkflow),
      [turn.entries, isWorkflow, skipped]
    );
    const isRunning = turn.status === 'running';
    const running = runningCall(turn);
    return (
      <TurnContext.Provider value={turn.id}>
        <article
          className={`da-turn ${props.isMarked ? 'da-mod-marked' : ''}`}
          data-withdrawn={props.isWithdrawn}
          data-turn={turn.id}
          data-status={turn.status}
        >
          <UserMessage text={turn.message} />
          {turn.intent && <RoutingLine turn={turn} intent={turn.intent} />}
          {shown.map((entry, index) => (
            <EntryView
              key={entry.id}
              entry={entry}
              target={turn.target}
              message={turn.message}
              isWaitedFor={entry.id === waitsFor}
              isGrowing={
                isRunning &&
                index === shown.length - 1 &&
                turn.activity.kind === 'writing'
              }
              doing={
                entry === running && turn.activity.kind === 'message'
                  ? turn.activity.message
                  : undefined
              }
            />
          ))}
          {!isRunning && <KeptPlan turn={turn} />}
          <Conflicts turn={turn} />
          {!isRunning && <OfferedFixes turn={turn} />}
          {!isRunning && <OfferedWorkflows turn={turn} />}
          {!isRunning && <Refused turn={turn} />}
          {!isRunning && turn.hasUnknownCommand && (
            <UnknownCommand message={turn.message} />
          )}
          {turn.compare && <FurtherAnswers turn={turn} />}
          {!isRunning && turn.intent && <NextSteps turn={turn} />}
          {isRunning ? <Working turn={turn} /> : <TurnFoot turn={turn} />}
          {!turn.compare && <FurtherAnswers turn={turn} />}
        </article>
      </TurnContext.Provider>
    );
  }
);

/** The call that runs now, if one does. */
function runningCall(turn: ITurn): Entry | undefined {
  return turn.entries
    .filter(entry => entry.kind === 'tool' && entry.status === 'running')
    .pop();
}

/** Whether an action runs, which says itself how far it is. */
function isActing({ entries }: ITurn): boolean {
  return entries.some(
    entry => entry.kind === 'action' && entry.status === 'running'
  );
}

/**
 * A call that waits for approval, or never had an answer, did nothing: the question stands for it.
 * A proposal's card stands for the call that showed it. An action that the user skipped is not
 * offered any more: its step says so.
 */
function withoutRepeated(
  entries: readonly Entry[],
  skipped: string
): readonly Entry[] {
  const asked = new Set(
    entries.map(entry =>
      entry.kind === 'approval' &&
      !entry.share &&
      (!entry.decision || entry.decision === 'aborted')
        ? entry.callId
        : undefined
    )
  );
  const isProposed = entries.some(({ kind }) => kind === 'proposal');
  return entries.filter(
    entry =>
      !(entry.kind === 'tool' && asked.has(entry.id)) &&
      !(isProposed && isProposal(entry)) &&
      !(entry.kind === 'proposal' && skipped.includes(entry.id))
  );
}

/** The call that showed a proposal: the proposal's card says it. */
function isProposal(entry: Entry): boolean {
  return (
    entry.kind === 'tool' &&
    entry.name === 'proposeAction' &&
    entry.status === 'ok'
  );
}

/** What the user wrote. */
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
    entry: Entry | ICallGroup;
    target?: string;
    message: string;
    isGrowing: boolean;
    doing?: string;
    /** The plan waits for it. */
    isWaitedFor: boolean;
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
            {entry.isBroken && (
              <div className="da-broken" data-testid="da-broken">
                The answer was cut off here.
              </div>
            )}
          </div>
        ) : null;
      case 'reasoning':
        return <Reasoning entry={entry} />;
      case 'tool':
        return <ToolLine call={entry} target={target} doing={props.doing} />;
      case 'reads':
      case 'refused':
      case 'work':
        return <CallGroup group={entry} target={target} />;
      case 'approval':
        return <ApprovalEntry entry={entry} target={target} />;
      case 'question':
        return <QuestionEntry entry={entry} />;
      case 'notice':
        return <Notice entry={entry} />;
      case 'compacted':
        return <Compacted entry={entry} />;
      case 'help':
        return (
          <HelpList
            services={entry.services}
            isWhole={/^\s*\/help\s*$/i.test(props.message)}
          />
        );
      case 'actions-offered':
        return <ActionsOffered entry={entry} message={props.message} />;
      case 'proposal':
        return (
          <PanelProposal
            entry={entry}
            message={props.message}
            isWaitedFor={props.isWaitedFor}
          />
        );
      case 'action':
        return <PanelActionRun entry={entry} />;
      case 'undone':
        return (
          <div className="da-decided" role="status">
            {undoneLabel(entry)}
          </div>
        );
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
          <span className="da-tool-label">Reasoning</span>
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
  const { level, code, message } = props.entry;
  const { isReady } = useReadiness();
  if (code === 'no_model' && isReady) {
    // It is not true any more; the message can be sent again below.
    return (
      <div className="da-notice">
        No model was connected when this was sent.
      </div>
    );
  }
  return (
    <div
      className={`da-notice da-mod-${level}`}
      role="alert"
      data-testid="da-notice"
      data-code={code}
    >
      {message}
      {code === 'tool_not_in_mode' && <SwitchToAgent />}
      {code === 'tool_needs_notebook' && <AttachActive />}
    </div>
  );
});

/** What goes on, in words, unless a tool call at the end says so already. */
function Working(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const label = activityLabel(turn, useCellNumber(turn.target));
  const isSaid =
    waitingIn(turn).length > 0 ||
    !!runningCall(turn) ||
    isActing(turn) ||
    turn.answers.some(({ status }) => status === 'running');
  if (isSaid) {
    return null;
  }
  return (
    <div className="da-working">
      <span className="da-working-dot" aria-hidden="true" />
      {label}
      {!planWaits(turn) && <Elapsed since={turn.startedAt} />}
    </div>
  );
}
