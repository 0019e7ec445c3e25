import {
  caretDownIcon,
  caretRightIcon,
  checkIcon,
  circleEmptyIcon,
  errorIcon
} from '@jupyterlab/ui-components';
import React, { useState } from 'react';

import { PlanStep } from '../../api/types';
import { emptyTurn } from '../state/turn';
import { Value, useValue } from '../state/value';
import { usePanel } from './context';

const NO_TURN = new Value(emptyTurn(''));

const WORD = {
  pending: 'to do',
  in_progress: 'in progress',
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
  const done = plan.steps.filter(step => step.status === 'completed').length;
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  return (
    <section className="da-plan" data-testid="da-plan" aria-label="Plan">
      <button
        type="button"
        className="da-tool-line"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="da-tool-words">
          {`Plan · ${done} of ${plan.steps.length} done`}
        </span>
        <Caret tag="span" className="da-caret" aria-hidden="true" />
      </button>
      {isOpen && (
        <ol>
          {plan.steps.map((step, index) => (
            <Step key={index} step={step} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Step(props: { step: PlanStep }): JSX.Element {
  const { status, description } = props.step;
  const Icon = {
    pending: circleEmptyIcon,
    in_progress: null,
    completed: checkIcon,
    failed: errorIcon
  }[status];
  return (
    <li className="da-step" data-status={status}>
      {Icon ? (
        <Icon.react tag="span" className="da-status-icon" aria-hidden="true" />
      ) : (
        <span className="da-working-dot" aria-hidden="true" />
      )}
      <span>{description}</span>
      <span className="da-hidden">, {WORD[status]}</span>
    </li>
  );
}
