import {
  caretDownIcon,
  caretRightIcon,
  checkIcon,
  closeIcon
} from '@jupyterlab/ui-components';
import React, { memo, useId, useState } from 'react';

import { doneLabel } from '../../session/changes';
import { ICallGroup } from '../../session/foldCalls';
import { CellNumber, toolLabel } from '../../session/callLabels';
import { ToolLine } from './ToolLine';
import { useCellNumber } from '../context';

/** Many calls in a row, as one line that opens to them. */
export const CallGroup = memo(
  (props: { group: ICallGroup; target?: string }): JSX.Element => {
    const { calls, kind } = props.group;
    const isRefused = kind === 'refused';
    const Icon = isRefused ? closeIcon.react : checkIcon.react;
    const [isOpen, setOpen] = useState(false);
    const id = useId();
    const cellNumber = useCellNumber(props.target);
    const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
    return (
      <div
        className="da-tool"
        data-testid="da-tool-call"
        data-status={isRefused ? 'denied' : 'ok'}
      >
        <button
          type="button"
          className="da-tool-line"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon tag="span" className="da-status-icon" aria-hidden="true" />
          <span className="da-tool-label">
            {groupLabel(props.group, cellNumber)}
            {kind === 'reads' && (
              <span className="da-dim">
                {` · ${toolLabel(calls[calls.length - 1], cellNumber)}`}
              </span>
            )}
          </span>
          <Caret tag="span" className="da-caret" aria-hidden="true" />
        </button>
        {isOpen && (
          <div className="da-tool-nested" id={id}>
            {calls.map(call => (
              <ToolLine key={call.id} call={call} target={props.target} />
            ))}
          </div>
        )}
      </div>
    );
  },
  ({ group: { calls: a } }, { group: { calls: b } }) =>
    a.length === b.length && a.every((call, index) => call === b[index])
);

/** "Looked 4 times", "30 cells added". */
function groupLabel(
  { kind, calls }: ICallGroup,
  cellNumber: CellNumber
): string {
  switch (kind) {
    case 'refused':
      return `${toolLabel(calls[0], cellNumber)} · ${calls.length} times`;
    case 'reads':
      return `Read ${calls.length} times`;
    case 'work':
      return (
        doneLabel(calls.flatMap(({ changes }) => changes)) ||
        `${calls.length} calls completed`
      );
  }
}
