import React from 'react';

/** What could not be done, and the way to try it again. */
export function Problem(props: {
  message: string;
  onRetry?: () => void;
}): JSX.Element {
  return (
    <div className="da-notice da-mod-error" role="alert">
      {props.message}
      {props.onRetry && (
        <button type="button" className="da-link" onClick={props.onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}
