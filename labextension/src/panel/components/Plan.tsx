import {
  caretDownIcon,
  caretRightIcon,
  checkIcon,
  circleEmptyIcon,
  errorIcon
} from '@jupyterlab/ui-components';
import React, { useId, useState } from 'react';

import { PlanStep } from '../../api/types';
import { IPlan, emptyTurn } from '../state/turn';
import { Value, useValue } from '../state/value';
import { usePanel } from './context';

const NO_TURN = new Value(emptyTurn(''));

const WORD = {
  pending: 'to do',
  in_progress: 'in progress',
  completed: 'done',
  failed: 'failed'
};

/** What a step is called when nobody works on it any more. */
const WORD_AFTER = {
  pending: 'not done',
  in_progress: 'not finished',
  completed: 'done',
  failed: 'failed'
};

/** The plan of the running turn: a line a step, with its state. */
export function Plan(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId } = useValue(store.conversation);
  const { plan } = useValue(
    runningTurnId ? store.turn(runningTurnId) : NO_TURN
  );
  const [isOpen, setOpen] = useState(true);
  if (!plan?.steps.length) {
    return null;
  }
  return (
    <section className="da-plan" data-testid="da-plan" aria-label="Plan">
      <Steps steps={plan.steps} isOpen={isOpen} onToggle={setOpen} />
    </section>
  );
}

/** The plan of a turn that has ended, folded: what of it was done, and what was not. */
export function KeptPlan(props: { plan?: IPlan }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const { plan } = props;
  if (!plan?.steps.length) {
    return null;
  }
  return (
    <section
      className="da-kept-plan"
      data-testid="da-kept-plan"
      aria-label="Plan as it ended"
    >
      <Steps steps={plan.steps} isOpen={isOpen} onToggle={setOpen} hasEnded />
    </section>
  );
}

function Steps(props: {
  steps: readonly PlanStep[];
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
  hasEnded?: boolean;
}): JSX.Element {
  const { steps, isOpen, onToggle, hasEnded } = props;
  const id = useId();
  const done = steps.filter(step => step.status === 'completed').length;
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  return (
    <>
      <button
        type="button"
        className="da-tool-line"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => onToggle(!isOpen)}
      >
        <span className="da-tool-words">
          {`Plan · ${done} of ${steps.length} done`}
        </span>
        <Caret tag="span" className="da-caret" aria-hidden="true" />
      </button>
      {isOpen && (
        <ol id={id}>
          {steps.map((step, index) => (
            <Step key={index} step={step} hasEnded={!!hasEnded} />
          ))}
        </ol>
      )}
    </>
  );
}

const ICON = {
  pending: circleEmptyIcon,
  in_progress: null,
  completed: checkIcon,
  failed: errorIcon
};

function Step(props: { step: PlanStep; hasEnded: boolean }): JSX.Element {
  const { hasEnded } = props;
  const { status, description } = props.step;
  const isLeft = hasEnded && status !== 'completed';
  const Icon = ICON[status] ?? (hasEnded ? circleEmptyIcon : null);
  return (
    <li className="da-step" data-status={status}>
      {Icon ? (
        <Icon.react tag="span" className="da-status-icon" aria-hidden="true" />
      ) : (
        <span className="da-working-dot" aria-hidden="true" />
      )}
      <span>{description}</span>
      {isLeft ? (
        <span className="da-dim da-step-state">{WORD_AFTER[status]}</span>
      ) : (
        <span className="da-hidden">, {WORD[status]}</span>
      )}
    </li>
  );
}
