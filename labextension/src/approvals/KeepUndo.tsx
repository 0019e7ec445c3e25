import React from 'react';

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
