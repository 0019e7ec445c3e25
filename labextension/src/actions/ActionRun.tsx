import { fileIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { IActionEntry } from '../session/turn';

/** A run of an action: how far it is, and what came of it. What went wrong is said under it. */
export function ActionRun(props: {
  entry: IActionEntry;
  markdown: (text: string) => JSX.Element;
  openFile: (path: string) => void;
}): JSX.Element | null {
  const { entry, markdown, openFile } = props;
  if (entry.status === 'running') {
    return <Progress entry={entry} />;
  }
  // An action that was stopped may say how things are now.
  if (
    entry.status === 'error' ||
    (entry.status === 'cancelled' && !entry.output)
  ) {
    return null;
  }
  return (
    <div className="da-assistant" data-testid="da-action-result">
      {markdown(entry.output || 'Done.')}
      {entry.paths.length > 0 && (
        <ul className="da-action-files" aria-label="Files">
          {entry.paths.map(path => (
            <li key={path}>
              <button
                type="button"
                className="da-link"
                onClick={() => openFile(path)}
              >
                <fileIcon.react
                  tag="span"
                  width="14px"
                  height="14px"
                  aria-hidden="true"
                />
                {path}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Progress(props: { entry: IActionEntry }): JSX.Element {
  const { title, message, fraction } = props.entry;
  const percent =
    fraction === undefined ? undefined : Math.round(100 * fraction);
  return (
    <div className="da-action-progress" data-testid="da-action-progress">
      <div className="da-working">
        {percent === undefined && (
          <span className="da-working-dot" aria-hidden="true" />
        )}
        {message ?? title}
        {percent !== undefined && ` · ${percent}%`}
      </div>
      {percent !== undefined && (
        <progress max={100} value={percent} aria-label={message ?? title} />
      )}
    </div>
  );
}
