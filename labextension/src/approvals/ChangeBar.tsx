import React from 'react';

/**
 * What the agent changed and the decision on it: one line, at the top of a notebook and above the
 * panel's input.
 */
export function ChangeBar(props: {
  /** "3 cells changed". */
  label: string;
  /** "2 earlier". */
  more?: string;
  /** How the buttons look where the bar is. */
  className: string;
  testId: (act: 'keep' | 'undo') => string;
  /** Nothing can be decided here now. */
  isLocked: boolean;
  isBusy: boolean;
  keep: () => void;
  undo: () => void;
  showDiff: () => void;
  /** Buttons before and after "Diff". */
  before?: JSX.Element | false;
  after?: JSX.Element;
}): JSX.Element {
  const { label, more, className, isLocked, before, after } = props;
  return (
    <>
      <span
        className="da-change-count"
        role="status"
        title={more ? `${label} · ${more}` : label}
      >
        {label}
        {more && <span className="da-change-more">{` · ${more}`}</span>}
      </span>
      <span className="da-change-actions">
        {!isLocked && <KeepUndo {...props} />}
        {before}
        <button
          type="button"
          className={className}
          title="Show all changes of this turn in a new tab"
          onClick={props.showDiff}
        >
          Diff
        </button>
        {after}
      </span>
    </>
  );
}

/** The two buttons that decide on changes of the agent: on all that is shown, or on `what` alone. */
export function KeepUndo(props: {
  /** "cell 4". */
  what?: string;
  className: string;
  testId: (act: 'keep' | 'undo') => string;
  isBusy: boolean;
  keep: () => void;
  undo: () => void;
}): JSX.Element {
  const { what, className, testId, isBusy } = props;
  return (
    <>
      <button
        type="button"
        className={className}
        data-testid={testId('keep')}
        title="Keep these changes; they can no longer be undone here"
        aria-label={what && `Keep ${what}`}
        disabled={isBusy}
        onClick={props.keep}
      >
        Keep
      </button>
      <button
        type="button"
        className={className}
        data-testid={testId('undo')}
        title="Undo the agent's changes; your later edits are kept"
        aria-label={what && `Undo ${what}`}
        disabled={isBusy}
        onClick={props.undo}
      >
        Undo
      </button>
    </>
  );
}
