import {
  caretDownIcon,
  caretRightIcon,
  checkIcon,
  closeIcon,
  errorIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import React, { memo, useContext, useId, useState } from 'react';

import { IToolEntry } from '../../session/turn';
import { LabelOf, idLabel, nameCells } from '../../session/cellNames';
import { mergeChanges } from '../../session/changes';
import { keptOf } from '../scratchpad/keptCells';
import { pretty } from '../../ui/pretty';
import { toolLabel } from '../../session/callLabels';
import { formatDuration } from '../../ui/format';
import { ChangeList } from '../changes/ChangeList';
import { MimeBundle } from './MimeBundle';
import { Elapsed } from '../../ui/Elapsed';
import { LongText } from '../../ui/LongText';
import { TurnContext, useCellLabel, useCellNumber, usePanel } from '../context';

const STATUS_ICON = {
  ok: checkIcon,
  error: errorIcon,
  denied: closeIcon,
  aborted: stopIcon
};

const STATUS_WORD = {
  running: 'running',
  ok: 'done',
  error: 'failed',
  denied: 'declined',
  aborted: 'stopped'
};

/** A tool call: one line with its real result, which opens to all that is known of it. */
export const ToolLine = memo(
  (props: {
    call: IToolEntry;
    target?: string;
    /** What the server says that it is doing just now. */
    doing?: string;
  }): JSX.Element => {
    const { call } = props;
    const [isOpen, setOpen] = useState(false);
    const id = useId();
    const cellNumber = useCellNumber(props.target);
    const label =
      (call.status === 'running' && props.doing) || toolLabel(call, cellNumber);
    const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
    return (
      <div
        className="da-tool"
        data-testid="da-tool-call"
        data-status={call.needs ? 'denied' : call.status}
        data-tool={call.name}
      >
        <button
          type="button"
          className="da-tool-line"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <StatusMark status={call.needs ? 'denied' : call.status} />
          <span
            className="da-tool-label"
            title={
              call.summary && /\bcells? \d/i.test(label)
                ? 'Cell numbers at the time of the call'
                : undefined
            }
          >
            {label}
            {call.status === 'running' && <Elapsed since={call.startedAt} />}
          </span>
          {!!call.withheld?.length && (
            <span className="da-dim da-kept-here"> · not sent</span>
          )}
          <span className="da-hidden">
            , {STATUS_WORD[call.needs ? 'denied' : call.status]}
          </span>
          <Caret tag="span" className="da-caret" aria-hidden="true" />
        </button>
        {call.mimeBundle && <MimeBundle bundle={call.mimeBundle} />}
        {isOpen && (
          <div className="da-tool-details" id={id}>
            <ToolDetails call={call} target={props.target} />
          </div>
        )}
      </div>
    );
  }
);

function StatusMark(props: { status: IToolEntry['status'] }): JSX.Element {
  if (props.status === 'running') {
    return <span className="da-working-dot" aria-hidden="true" />;
  }
  const Icon = STATUS_ICON[props.status].react;
  return <Icon tag="span" className="da-status-icon" aria-hidden="true" />;
}

function ToolDetails(props: {
  call: IToolEntry;
  target?: string;
}): JSX.Element {
  const { call, target } = props;
  const labelOf = useCellLabel(target)(call.arguments);
  const changes = mergeChanges(call.changes);
  return (
    <>
      <div className="da-tool-name">
        {call.name}
        {call.durationMs !== undefined &&
          ` · ${formatDuration(call.durationMs)}`}
      </div>
      <Arguments value={call.arguments} labelOf={labelOf} />
      {changes.length > 0 && <ChangeList changes={changes} />}
      {call.output !== undefined && call.output !== null && (
        <Values
          value={call.output}
          label="Output"
          caption={outputCaption(call)}
          labelOf={labelOf}
        />
      )}
      <KeepResult call={call} target={target} />
    </>
  );
}

function outputCaption(call: IToolEntry): string {
  if (call.withheld?.length) {
    return 'Output (the model saw only its type and length)';
  }
  return call.truncated ? 'Output (truncated for the model)' : 'Output';
}

/** Sends what came of a call to the scratchpad: its cells with their outputs, else its words. */
function KeepResult(props: {
  call: IToolEntry;
  target?: string;
}): JSX.Element | null {
  const { editor, scratchpad } = usePanel().model;
  const turnId = useContext(TurnContext);
  const { call, target } = props;
  if (!turnId || call.status === 'running') {
    return null;
  }
  return (
    <button
      type="button"
      className="da-link da-keep-result"
      onClick={() =>
        void scratchpad.send(
          ...keptOf(call, target ?? editor.activeNotebook, editor).map(
            cell => ({
              ...cell,
              turnId
            })
          )
        )
      }
    >
      Send to scratchpad
    </button>
  );
}

/** Arguments: code in a field of its own, the rest a line each. */
function Arguments(props: {
  value: unknown;
  labelOf: LabelOf;
}): JSX.Element | null {
  const { value, labelOf } = props;
  if (value === undefined || value === null) {
    return null;
  }
  if (typeof value !== 'object') {
    return <LongText text={String(value)} label="Arguments" />;
  }
  const entries = Object.entries(value);
  const isCode = (text: unknown): text is string =>
    typeof text === 'string' && (text.includes('\n') || text.length > 60);
  const rest = entries.filter(([, item]) => !isCode(item));
  return (
    <>
      {rest.length > 0 && (
        <Values
          value={Object.fromEntries(rest)}
          label="Arguments"
          labelOf={labelOf}
        />
      )}
      {entries.map(
        ([key, text]) =>
          isCode(text) && (
            <React.Fragment key={key}>
              <div className="da-caption">{key}</div>
              <LongText text={text} label={key} />
            </React.Fragment>
          )
      )}
    </>
  );
}

/** Values, a line each; cells by number and first line, their ids in the tooltip. */
const Values = memo(
  (props: {
    value: unknown;
    label: string;
    caption?: string;
    labelOf: LabelOf;
  }): JSX.Element | null => {
    const { value, ids } = nameCells(props.value, props.labelOf);
    const text = pretty(value);
    return text ? (
      <>
        {props.caption && <div className="da-caption">{props.caption}</div>}
        <LongText
          text={text}
          label={props.label}
          title={idLabel(ids) || undefined}
          cellIds={[...ids.keys()].join(' ') || undefined}
        />
      </>
    ) : null;
  },
  // Cells that move later do not make what was done then look different.
  (a, b) => a.value === b.value
);
