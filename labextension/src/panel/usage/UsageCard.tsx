import { refreshIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { UsageBy, UsageReply, UsageRow } from '../../api/types';
import {
  formatRowCost,
  formatCount,
  rowLabel,
  pricingNote,
  formatTime
} from './usage';
import { useValue } from '../../session/observable';
import { CardFrame } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';
import { IconButton } from '../../ui/IconButton';
import { usePanel } from '../context';

const BY: readonly (readonly [UsageBy, string])[] = [
  ['day', 'Day'],
  ['model', 'Model'],
  ['session', 'Session']
];
const DAYS: readonly (readonly [number, string])[] = [
  [1, 'Today'],
  [7, '7 days'],
  [30, '30 days'],
  [366, 'A year']
];

/** What was used: tokens, cost, time and tool errors. */
export function UsageCard(): JSX.Element {
  const { model } = usePanel();
  const { usage } = model.toolsPanel;
  const { by, days, isLoading, reply, problem } = useValue(usage.shown);
  return (
    <CardFrame
      title="Usage"
      testId="da-usage"
      takesFocus
      actions={
        <IconButton
          icon={refreshIcon}
          label="Refresh"
          disabled={isLoading}
          onClick={() => void usage.show()}
        />
      }
    >
      <div className="da-usage-choice">
        <Choice
          label="Group by"
          options={BY}
          value={by}
          onChange={by => void usage.show({ by })}
        />
        <Choice
          label="Time"
          options={DAYS}
          value={days}
          onChange={days => void usage.show({ days })}
        />
      </div>
      {problem && (
        <Problem message={problem} onRetry={() => void usage.show()} />
      )}
      {!problem && !reply && <p>Loading</p>}
      {!problem && reply && <Usage reply={reply} />}
    </CardFrame>
  );
}

/** A few composerState, of which one holds. */
function Choice<T extends string | number>(props: {
  label: string;
  options: readonly (readonly [T, string])[];
  value: T;
  onChange: (value: T) => void;
}): JSX.Element {
  const { label, options, value, onChange } = props;
  return (
    <select
      className="da-field"
      aria-label={label}
      value={value}
      onChange={event => {
        const chosen = options.find(
          ([each]) => String(each) === event.target.value
        );
        if (chosen) {
          onChange(chosen[0]);
        }
      }}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}

function Usage(props: { reply: UsageReply }): JSX.Element {
  const { by, total, rows } = props.reply;
  if (!rows.length) {
    return <p>No usage in this period.</p>;
  }
  const most = Math.max(1, ...rows.map(row => row.totalTokens));
  const priced = pricingNote(total);
  return (
    <>
      <table className="da-usage">
        <thead>
          <tr>
            <th scope="col">{BY.find(([each]) => each === by)?.[1]}</th>
            <th scope="col">Tokens</th>
            <th scope="col">Cost</th>
            <th scope="col">Time</th>
            <th scope="col" title="Failed tool calls">
              Errors
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <Row key={row.key} by={by} row={row} most={most} />
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <Cells row={total} />
          </tr>
        </tfoot>
      </table>
      <p className="da-dim">
        {priced && `${priced} `}
        Deleted sessions are not counted.
      </p>
    </>
  );
}

function Row(props: { by: UsageBy; row: UsageRow; most: number }): JSX.Element {
  const { by, row, most } = props;
  const { model } = usePanel();
  const text = rowLabel(by, row);
  const share = (100 * row.totalTokens) / most;
  return (
    <tr>
      <th scope="row" title={by === 'session' ? text : row.key}>
        {by === 'session' && row.key ? (
          <button
            type="button"
            className="da-link"
            onClick={() => void model.sessions.open(row.key)}
          >
            {text}
          </button>
        ) : (
          text
        )}
        <span className="da-usage-bar" aria-hidden="true">
          <span style={{ width: `${share}%` }} />
        </span>
      </th>
      <Cells row={row} />
    </tr>
  );
}

function Cells(props: { row: UsageRow }): JSX.Element {
  const { row } = props;
  const { inputTokens, outputTokens, cachedTokens } = row;
  const tokens =
    `${inputTokens.toLocaleString('en')} tokens in (${cachedTokens.toLocaleString('en')} from the ` +
    `provider's cache), ${outputTokens.toLocaleString('en')} out`;
  return (
    <>
      <td title={tokens}>{formatCount(row.totalTokens)}</td>
      <td title={pricingNote(row) ?? undefined}>{formatRowCost(row)}</td>
      <td title={`${row.turns} turns, ${row.modelCalls} model calls`}>
        {formatTime(row.durationMs)}
      </td>
      <td
        className={row.toolErrors ? 'da-mod-errors' : undefined}
        title={`${row.toolErrors} of ${row.toolCalls} tool calls failed`}
      >
        {row.toolErrors}
      </td>
    </>
  );
}
