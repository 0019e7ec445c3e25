import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useId, useMemo, useRef, useState } from 'react';

import { draftOf } from './planController';
import {
  IPlan,
  asDenied,
  blockedSteps,
  isResumable,
  planWaits
} from '../../session/plan';
import { ITurn, emptyTurn, wasDenied } from '../../session/turn';
import { Observable, useValue } from '../../session/observable';
import { PlanActions } from './PlanActions';
import { PlanEditor } from './PlanEditor';
import { PlanFacts } from './PlanFacts';
import { PlanStepLine } from './PlanStepLine';
import { blockedLabel, needsLabel } from './planLabels';
import { usePanel } from '../context';
import { useBroughtUp } from '../../ui/scrolling';

const NO_TURN = new Observable(emptyTurn(''));

/**
 * The plan of the running turn, pinned: a line a step with its state, and what can be decided.
 *
 * While it waits for a decision its steps are in view; what was folded before is folded again once
 * it goes on.
 */
export function Plan(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId } = useValue(store.conversation);
  const turn = useValue(runningTurnId ? store.turn(runningTurnId) : NO_TURN);
  const drafted = useValue(model.plans.draft);
  const [folded, setFolded] = useState<string | null>(null);
  const { plan } = turn;
  const waits = planWaits(turn);
  const draft = plan && waits ? draftOf(drafted, turn.id, plan) : null;
  const { plans } = model;
  useEffect(() => {
    if (plan && waits) {
      plans.restore(turn.id, plan);
    }
  }, [plans, plan, waits, turn.id]);
  const frame = useRef<HTMLElement>(null);
  useBroughtUp(frame, waits && turn.id);
  const wasEditing = useRef(false);
  useEffect(() => {
    wasEditing.current = !!draft;
  });
  if (!plan?.steps.length || turn.status !== 'running') {
    return null;
  }
  return (
    <section
      className="da-plan"
      ref={frame}
      data-testid="da-plan"
      data-state={plan.state}
      data-waiting={waits}
      aria-label="Plan"
    >
      <Head
        plan={plan}
        isOpen={waits || folded !== turn.id}
        onToggle={
          waits ? undefined : isOpen => setFolded(isOpen ? null : turn.id)
        }
      >
        {draft ? (
          <PlanEditor draft={draft} />
        ) : (
          <>
            <Steps plan={plan} />
            {plan.state && <PlanFacts plan={plan} />}
          </>
        )}
      </Head>
      {plan.state && !draft && (
        <PlanActions
          turnId={turn.id}
          plan={plan}
          isBack={wasEditing.current}
          onEdit={() => model.plans.edit(turn.id, plan)}
        />
      )}
    </section>
  );
}

/** The plan of a turn that has ended, folded: what of it was done, and what was not. */
export function KeptPlan(props: { turn: ITurn }): JSX.Element | null {
  const { model } = usePanel();
  const { turn } = props;
  const { store } = useValue(model.shown);
  const { runningTurnId } = useValue(store.conversation);
  const newest = useValue(store.planned);
  const isDenied = useMemo(() => wasDenied(turn), [turn]);
  const plan = useMemo(
    () => (turn.plan && isDenied ? asDenied(turn.plan) : turn.plan),
    [turn.plan, isDenied]
  );
  const isStopped = newest === turn.id && isResumable(turn);
  const [chosen, setOpen] = useState<boolean | null>(null);
  const asked = useValue(model.plans.asked);
  if (!plan?.steps.length) {
    return null;
  }
  const next = plan.steps.findIndex(
    ({ status }) => status !== 'completed' && status !== 'skipped'
  );
  return (
    <section
      className="da-kept-plan"
      data-testid="da-kept-plan"
      aria-label="Plan of this turn"
    >
      <Head
        plan={plan}
        isOpen={chosen ?? isStopped}
        onToggle={setOpen}
        hasEnded
      >
        <Steps plan={plan} hasEnded />
      </Head>
      {isStopped && !runningTurnId && (
        <div className="da-buttons">
          <button
            type="button"
            // What they did not want done is not what to press next.
            className={`da-button ${isDenied ? '' : 'da-mod-primary'}`}
            data-testid="da-plan-continue"
            title="Continue with this step and the current notebook"
            disabled={asked?.turnId === turn.id}
            onClick={() => model.plans.resume(turn.id)}
          >
            {next < 0 ? 'Continue' : `Continue with step ${next + 1}`}
          </button>
        </div>
      )}
    </section>
  );
}

/** The line that folds the plan, where it may be folded, and what is under it. */
function Head(props: {
  plan: IPlan;
  isOpen: boolean;
  onToggle?: (isOpen: boolean) => void;
  hasEnded?: boolean;
  children: React.ReactNode;
}): JSX.Element {
  const { plan, isOpen, onToggle, hasEnded, children } = props;
  const id = useId();
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  const label = (
    <span className="da-tool-label">{headLabel(plan, !!hasEnded)}</span>
  );
  return (
    <>
      {onToggle ? (
        <button
          type="button"
          className="da-tool-line"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => onToggle(!isOpen)}
        >
          {label}
          <Caret tag="span" className="da-caret" aria-hidden="true" />
        </button>
      ) : (
        <div className="da-tool-line">{label}</div>
      )}
      {isOpen && (
        <div className="da-plan-body" id={id}>
          {children}
        </div>
      )}
    </>
  );
}

function Steps(props: { plan: IPlan; hasEnded?: boolean }): JSX.Element {
  const { plan, hasEnded } = props;
  const blocked = blockedSteps(plan.steps);
  return (
    <ol className="da-steps">
      {plan.steps.map((step, index) => (
        <PlanStepLine
          key={index}
          number={index + 1}
          step={step}
          note={plan.notes[index]}
          blocked={
            blocked.has(index)
              ? blockedLabel(blocked.get(index)!, plan.steps)
              : undefined
          }
          needs={needsLabel(step, index)}
          hasEnded={!!hasEnded}
          isWaiting={
            !hasEnded &&
            plan.state === 'waiting' &&
            step.status === 'in_progress'
          }
        />
      ))}
    </ol>
  );
}

/** "Plan · 1 of 4 done", and how it stands where that says more. */
function headLabel({ steps, state }: IPlan, hasEnded: boolean): string {
  const done = steps.filter(step => step.status === 'completed').length;
  const count = `${done} of ${steps.length} done`;
  switch (state) {
    case 'proposed':
      return `Plan to approve · ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`;
    case 'paused':
      return hasEnded ? `Plan · ${count}` : `Plan paused · ${count}`;
    case 'waiting':
      return hasEnded ? `Plan · ${count}` : `Plan waits for you · ${count}`;
    case 'stopped':
      return `Plan stopped · ${count}`;
    case 'rejected':
      return 'Plan not approved';
    default:
      return `Plan · ${count}`;
  }
}
