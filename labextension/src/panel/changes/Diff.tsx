import React, { memo, useMemo } from 'react';

import { Change } from '../../api/types';
import { diffLines } from '../../diff/lines';

const SIGN = { same: ' ', removed: '-', added: '+', gap: ' ' };

/** What a change does to a source, by lines. */
export const Diff = memo((props: { change: Change }): JSX.Element | null => {
  const { before, after } = props.change;
  const lines = useMemo(
    () => diffLines(before ?? '', after ?? ''),
    [before, after]
  );
  if (!lines.length) {
    return null;
  }
  return (
    <pre className="da-diff" tabIndex={0} aria-label="Difference">
      <div className="da-diff-lines">
        {lines.map((line, index) => (
          <div key={index} className={`da-diff-line da-mod-${line.kind}`}>
            {line.kind === 'gap' ? '⋯' : `${SIGN[line.kind]} ${line.text}`}
          </div>
        ))}
      </div>
    </pre>
  );
});
