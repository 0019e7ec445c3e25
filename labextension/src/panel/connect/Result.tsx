import React, { useEffect, useRef } from 'react';

/** What a test showed. */
export interface IResult {
  ok: boolean;
  message: string;
}

/** Whether it works, in a sentence. */
export function Result(props: {
  result: IResult | null;
  busy: boolean;
}): JSX.Element {
  const { result, busy } = props;
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (result || busy) {
      line.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [result, busy]);
  return (
    // The element must exist before its text, or screen readers skip it.
    <div role="status" ref={line}>
      {busy && <p className="da-dim">Waiting for the model</p>}
      {!busy && result && (
        <div
          className={`da-notice ${result.ok ? '' : 'da-mod-error'}`}
          data-testid="da-connect-result"
          data-ok={result.ok}
        >
          {result.ok ? `Works: ${result.message}` : result.message}
        </div>
      )}
    </div>
  );
}
