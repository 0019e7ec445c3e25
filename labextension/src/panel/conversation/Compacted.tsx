import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React, { memo, useId, useState } from 'react';

import { ICompactedEntry } from '../../session/turn';
import { countShort } from '../../ui/format';
import { Markdown } from './Markdown';

/** That older turns are not sent whole any more: a line, which opens to what is sent instead. */
export const Compacted = memo(
  (props: { entry: ICompactedEntry }): JSX.Element => {
    const { how, summary, turns, tokens } = props.entry;
    const [isOpen, setOpen] = useState(false);
    const id = useId();
    const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
    const count = Math.max(1, turns.before - turns.after);
    const size = tokens.before
      ? `${countShort(tokens.before)} tokens before, ${countShort(tokens.after)} now. `
      : '';
    return (
      <div className="da-compacted" data-testid="da-compacted">
        <button
          type="button"
          className="da-tool-line"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <span className="da-tool-label">
            {how === 'summary'
              ? 'Earlier turns were summarised'
              : 'Earlier turns are no longer sent to the model'}
          </span>
          <Caret tag="span" className="da-caret" aria-hidden="true" />
        </button>
        {isOpen && (
          <div className="da-tool-details" id={id}>
            <div className="da-caption">
              {`${count === 1 ? '1 turn' : `${count} turns`} · ${size}They remain here and can be searched.`}
            </div>
            {summary && <Markdown text={summary} isGrowing={false} />}
          </div>
        )}
      </div>
    );
  }
);
