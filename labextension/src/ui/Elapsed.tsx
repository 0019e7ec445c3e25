import React, { useEffect, useState } from 'react';

import { formatDuration } from './format';

/** " · 12 s" since a time (ms since 1970), ticking; nothing in the first second. */
export function Elapsed(props: { since: number }): JSX.Element | null {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const elapsed = now - props.since;
  if (elapsed < 1000 || props.since === 0) {
    return null;
  }
  return (
    <span className="da-time" aria-hidden="true">
      {' · '}
      {formatDuration(Math.floor(elapsed / 1000) * 1000).replace('.0', '')}
    </span>
  );
}
