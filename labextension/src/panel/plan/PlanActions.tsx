import React, { useEffect, useRef } from 'react';

import { IPlan } from '../../session/plan';
import { useValue } from '../../session/observable';
import { goToWaiting } from '../sessionList/waiting';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';

/** What the user can do with a plan as it stands. */
export function PlanActions(props: {
  turnId: string;
  plan: IPlan;
  onEdit: () => void;
  /** The editor stood here until now. */
  isBack: boolean;
}): JSX.Element | null {
  const { model } = usePanel();
  const composer = useComposer();
  const { turnId, plan, onEdit, isBack } = props;
  const asked = useValue(model.plans.asked);
  const act = asked?.turnId === turnId ? asked.act : null;
  const frame = useRef<HTMLDivElement>(null);
  const edit = useRef<HTMLButtonElement>(null);
  // The buttons change with the state: the focus goes to one that is there then.
  const hadFocus = useRef(isBack);
  useEffect(() => {
    if (hadFocus.current && document.activeElement === document.body) {
      (edit.current ?? frame.current?.querySelector('button'))?.focus();
    }
    hadFocus.current = false;
  }, [plan.state]);
  const editButton = (
    <button
      type="button"
      className="da-button"
      data-testid="da-plan-edit"
      ref={edit}
      disabled={act !== null}
      onClick={onEdit}
    >
      {plan.state === 'proposed' ? 'Edit' : 'Edit steps'}
    </button>
  );
  const stop = (
    <button
      type="button"
      className="da-button"
      data-testid="da-plan-stop"
      onClick={() => model.stop()}
    >
      Stop
    </button>
  );
  switch (plan.state) {
    case 'proposed':
      return (
        <div className="da-buttons" ref={frame}>
          <button
            type="button"
            className="da-button da-mod-primary"
            data-testid="da-plan-approve"
            disabled={act !== null}
            onClick={() => {
              hadFocus.current = true;
              model.plans.approve(turnId);
            }}
          >
            Approve
          </button>
          {editButton}
          <button
            type="button"
            className="da-button"
            data-testid="da-plan-reject"
            disabled={act !== null}
            onClick={() => {
              model.plans.reject(turnId);
              composer.focus();
            }}
          >
            Reject
          </button>
        </div>
      );
    case 'running':
      return (
        <div className="da-buttons" ref={frame}>
          {act === 'pause' ? (
            <span className="da-dim" role="status">
              Pausing after this step
            </span>
          ) : (
            <button
              type="button"
              className="da-button"
              data-testid="da-plan-pause"
              onClick={() => {
                hadFocus.current = true;
                model.plans.pause(turnId);
              }}
            >
              Pause
            </button>
          )}
          {stop}
        </div>
      );
    case 'paused':
      return (
        <div className="da-buttons" ref={frame}>
          <button
            type="button"
            className="da-button da-mod-primary"
            data-testid="da-plan-continue"
            disabled={act !== null}
            onClick={() => {
              hadFocus.current = true;
              model.plans.resume(turnId);
            }}
          >
            Continue
          </button>
          {editButton}
          {stop}
        </div>
      );
    case 'waiting':
      return (
        <div className="da-buttons" ref={frame}>
          <button
            type="button"
            className="da-button da-mod-primary"
            data-testid="da-plan-review"
            onClick={event =>
              goToWaiting(event.currentTarget.closest('.da-panel'))
            }
          >
            Review
          </button>
          <button
            type="button"
            className="da-button"
            data-testid="da-plan-skip"
            title="Go on without this action"
            disabled={act !== null}
            onClick={() => {
              hadFocus.current = true;
              model.plans.skip(turnId);
            }}
          >
            Skip
          </button>
          {editButton}
          {stop}
        </div>
      );
    default:
      return null;
  }
}
