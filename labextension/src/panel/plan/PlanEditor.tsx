import {
  addIcon,
  caretDownIcon,
  caretUpIcon,
  closeIcon
} from '@jupyterlab/ui-components';
import React, { useEffect, useId, useRef, useState } from 'react';

import { IDraftStep, IPlanDraft } from './planDrafts';
import { IconButton } from '../../ui/IconButton';
import { usePanel } from '../context';

/** The steps of a plan as fields: to change, add, remove and reorder before they are carried out. */
export function PlanEditor(props: { draft: IPlanDraft }): JSX.Element {
  const { model } = usePanel();
  const { plans } = model;
  const { steps, isSending, isRestored, problem } = props.draft;
  const frame = useRef<HTMLDivElement>(null);
  // After a reload the user may be at work elsewhere.
  const goTo = useRef<number | 'first' | null>(isRestored ? null : 'first');
  const [said, say] = useState('');
  const id = useId();

  // A field gets the focus when it is there: the first one, and later one that was added.
  useEffect(() => {
    const target = goTo.current;
    if (target !== null) {
      goTo.current = null;
      const which = target === 'first' ? '' : `[data-key="${target}"]`;
      frame.current?.querySelector<HTMLElement>(`textarea${which}`)?.focus();
    }
  });

  const move = (step: IDraftStep, by: -1 | 1) => {
    const to = plans.move(step.key, by);
    if (to !== null) {
      goTo.current = step.key;
      say(`Step moved to position ${to + 1} of ${steps.length}`);
    }
  };
  const add = (after?: number) => {
    goTo.current = plans.add(after);
  };
  const remove = ({ key }: IDraftStep) => {
    const open = steps.filter(step => !step.isDone);
    const at = open.findIndex(step => step.key === key);
    goTo.current = (open[at - 1] ?? open[at + 1])?.key ?? null;
    plans.remove(key);
    say('Step removed');
  };
  return (
    <div
      className="da-plan-editor"
      data-testid="da-plan-editor"
      role="group"
      aria-label="Edit the plan"
      ref={frame}
      onKeyDown={event => {
        // In the panel Escape stops the turn, and the steps would be lost with it.
        if (event.key === 'Escape') {
          event.stopPropagation();
        }
      }}
    >
      <ol className="da-steps">
        {steps.map((step, index) =>
          step.isDone ? (
            <li
              key={step.key}
              className="da-step"
              data-status={step.source?.status}
            >
              <span className="da-step-number">{index + 1}.</span>
              <span className="da-step-text">{step.description}</span>
              <span className="da-dim da-step-state">
                {step.source?.status === 'skipped' ? 'skipped' : 'done'}
              </span>
            </li>
          ) : (
            <StepField
              key={step.key}
              step={step}
              number={index + 1}
              help={id}
              isFirst={index === 0 || steps[index - 1].isDone}
              isLast={index === steps.length - 1}
              write={text => plans.write(step.key, text)}
              move={by => move(step, by)}
              add={() => add(step.key)}
              remove={() => remove(step)}
              run={() => plans.run()}
            />
          )
        )}
      </ol>
      <button
        type="button"
        className="da-link da-plan-add"
        onClick={() => add()}
      >
        <addIcon.react
          tag="span"
          width="14px"
          height="14px"
          aria-hidden="true"
        />
        Add a step
      </button>
      <div className="da-dim da-plan-help" id={id}>
        Enter adds a step below. Alt+↑ and Alt+↓ move it.
      </div>
      {problem && (
        <div className="da-notice da-mod-error" role="alert">
          {problem}
        </div>
      )}
      <div className="da-buttons">
        <button
          type="button"
          className="da-button da-mod-primary"
          data-testid="da-plan-run"
          disabled={isSending}
          onClick={() => plans.run()}
        >
          Run these steps
        </button>
        <button
          type="button"
          className="da-button"
          data-testid="da-plan-cancel"
          onClick={() => plans.cancel()}
        >
          Cancel
        </button>
      </div>
      <span className="da-hidden" role="status">
        {said}
      </span>
    </div>
  );
}

function StepField(props: {
  step: IDraftStep;
  number: number;
  /** Id of the words that explain the keys. */
  help: string;
  isFirst: boolean;
  isLast: boolean;
  write: (text: string) => void;
  move: (by: -1 | 1) => void;
  add: () => void;
  remove: () => void;
  run: () => void;
}): JSX.Element {
  const { step, number, isFirst, isLast, write, move } = props;
  const onKey = (event: React.KeyboardEvent) => {
    const { key, altKey, shiftKey, ctrlKey, metaKey } = event;
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (altKey && (key === 'ArrowUp' || key === 'ArrowDown')) {
      event.preventDefault();
      move(key === 'ArrowUp' ? -1 : 1);
    } else if (key === 'Enter' && (ctrlKey || metaKey)) {
      event.preventDefault();
      props.run();
    } else if (key === 'Enter' && !shiftKey) {
      event.preventDefault();
      props.add();
    } else if (key === 'Backspace' && !step.description && !event.repeat) {
      event.preventDefault();
      props.remove();
    }
  };
  return (
    <li className="da-step-edit">
      <span className="da-step-number">{number}.</span>
      <span className="da-grow" data-text={step.description}>
        <textarea
          className="da-field"
          rows={1}
          data-key={step.key}
          data-testid="da-plan-step"
          aria-label={`Step ${number}`}
          aria-describedby={props.help}
          placeholder="What to do"
          value={step.description}
          onChange={event => write(event.target.value.replace(/\n/g, ' '))}
          onKeyDown={onKey}
        />
      </span>
      <span className="da-step-buttons">
        <IconButton
          icon={caretUpIcon}
          label={`Move step ${number} up`}
          disabled={isFirst}
          onClick={() => move(-1)}
        />
        <IconButton
          icon={caretDownIcon}
          label={`Move step ${number} down`}
          disabled={isLast}
          onClick={() => move(1)}
        />
        <IconButton
          icon={closeIcon}
          label={`Remove step ${number}`}
          onClick={props.remove}
        />
      </span>
    </li>
  );
}
