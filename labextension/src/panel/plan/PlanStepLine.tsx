import {
  checkIcon,
  circleEmptyIcon,
  errorIcon
} from '@jupyterlab/ui-components';
import React, { memo } from 'react';

import { PlanStep } from '../../api/types';
import { StepNote } from '../../session/plan';
import { noteLabel } from './planLabels';

const WORD = {
  pending: 'to do',
  in_progress: 'in progress',
  completed: 'done',
  failed: 'failed',
  skipped: 'skipped'
};

/** What a step is called when nobody works on it any more. */
const WORD_AFTER = {
  pending: 'not done',
  in_progress: 'not finished',
  completed: 'done',
  failed: 'failed',
  skipped: 'skipped'
};

const ICON = {
  pending: circleEmptyIcon,
  in_progress: null,
  completed: checkIcon,
  failed: errorIcon,
  skipped: circleEmptyIcon
};

/** A step of a plan: its number, its state, and what is known of its fix. */
export const PlanStepLine = memo(
  (props: {
    number: number;
    step: PlanStep;
    note?: StepNote;
    /** Why it is not begun. */
    blocked?: string;
    /** "needs steps 1 and 3". */
    needs?: string;
    hasEnded: boolean;
    /** Its action waits for the user. */
    isWaiting?: boolean;
  }): JSX.Element => {
    const { number, needs, hasEnded, isWaiting } = props;
    const note = noted(props);
    const { status, description } = props.step;
    const isLeft = status === 'skipped' || (hasEnded && status !== 'completed');
    const Icon = ICON[status] ?? (hasEnded ? circleEmptyIcon : null);
    return (
      <li
        className="da-step"
        data-status={status}
        aria-current={
          status === 'in_progress' && !hasEnded ? 'step' : undefined
        }
      >
        {Icon ? (
          <Icon.react
            tag="span"
            className="da-status-icon"
            aria-hidden="true"
          />
        ) : (
          <span className="da-working-dot" aria-hidden="true" />
        )}
        <span className="da-step-number">{number}.</span>
        <span className="da-step-text">
          {description}
          {needs && <span className="da-dim da-step-needs"> {needs}</span>}
          {note && (
            <span className="da-step-note" data-kind={note.kind}>
              {note.label}
            </span>
          )}
        </span>
        {isWaiting ? (
          <span className="da-step-state da-mod-waiting">waits for you</span>
        ) : isLeft ? (
          <span className="da-dim da-step-state">{WORD_AFTER[status]}</span>
        ) : (
          <span className="da-hidden">, {WORD[status]}</span>
        )}
      </li>
    );
  }
);

function noted(props: {
  note?: StepNote;
  blocked?: string;
}): { kind: StepNote['kind']; label: string } | undefined {
  const { note, blocked } = props;
  if (blocked) {
    return { kind: 'failed', label: blocked };
  }
  return note && { kind: note.kind, label: noteLabel(note) };
}
