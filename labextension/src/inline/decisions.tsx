import { caretDownIcon, caretUpIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { IconButton } from '../ui/IconButton';
import { InlineModel } from './model';
import { IInlineState } from './state';

/** The buttons that decide on what is proposed; nothing where nothing is. */
export function Decisions(props: {
  model: InlineModel;
  state: IInlineState;
  /** Keep the keyboard in the box where its buttons go. */
  focusInput: () => void;
}): JSX.Element | null {
  const { model, state, focusInput } = props;
  const { count, current, blocked, isComplete } = state.pending;
  const { run } = state;
  const canAccept = count > 0 && isComplete;
  // Each of what is left is to be looked at.
  const isBlocked = canAccept && blocked === count;
  if ((!canAccept && !run) || state.activity !== null) {
    return null;
  }
  return (
    <div className="da-inline-decisions" role="toolbar" aria-label="Proposal">
      {canAccept && (
        <Decide
          label="Accept all"
          keys="Ctrl+Enter"
          testId="da-inline-accept"
          isMain
          isBlocked={isBlocked}
          act={() => model.acceptAll()}
        />
      )}
      {(run || model.canRun) && (
        <Decide
          label={run?.label ?? 'Accept and run'}
          keys="Ctrl+Shift+Enter"
          testId="da-inline-accept-run"
          isBlocked={isBlocked}
          act={() => {
            focusInput();
            model.acceptAll(true);
          }}
        />
      )}
      <Decide
        label={canAccept ? 'Reject all' : 'Close'}
        keys={canAccept ? 'cannot be undone' : 'Escape'}
        testId="da-inline-reject"
        act={() => model.close()}
      />
      {canAccept && (count > 1 || isBlocked) && (
        <span className="da-inline-each">
          <IconButton
            icon={caretUpIcon}
            label="Previous change (Alt+Up)"
            data-testid="da-inline-previous"
            data-lm-suppress-shortcuts="true"
            onClick={() => model.proposals.move(-1)}
          />
          <span aria-live="polite">
            {current || 1} of {count}
          </span>
          <IconButton
            icon={caretDownIcon}
            label="Next change (Alt+Down)"
            data-testid="da-inline-next"
            data-lm-suppress-shortcuts="true"
            onClick={() => model.proposals.move(1)}
          />
          <span className="da-inline-pair">
            <Decide
              label="Accept"
              keys="this change"
              testId="da-inline-accept-one"
              act={() => model.proposals.decide(true)}
            />
            <Decide
              label="Reject"
              keys="this change"
              testId="da-inline-reject-one"
              act={() => model.proposals.decide(false)}
            />
          </span>
        </span>
      )}
    </div>
  );
}

function Decide(props: {
  label: string;
  keys: string;
  testId: string;
  isMain?: boolean;
  /** Nothing is left that it could do; it says so, and keeps the keyboard. */
  isBlocked?: boolean;
  act: () => void;
}): JSX.Element {
  const title = props.isBlocked
    ? 'You edited these lines: decide on each change individually'
    : `${props.label} (${props.keys})`;
  return (
    <button
      type="button"
      className={`da-inline-button ${props.isMain ? 'da-mod-main' : ''}`}
      title={title}
      aria-disabled={props.isBlocked || undefined}
      data-testid={props.testId}
      data-lm-suppress-shortcuts="true"
      onClick={props.act}
    >
      {props.label}
    </button>
  );
}
