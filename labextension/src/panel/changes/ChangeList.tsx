import React, { memo, useId, useState } from 'react';

import { Change } from '../../api/types';
import { changeLabel } from '../../session/changes';
import { Diff } from './Diff';
import { usePanel } from '../context';

/** The changed cells with their diffs; a click on one goes there. */
export const ChangeList = memo(
  (props: {
    changes: readonly Change[];
    /** They are not made yet. */
    isProposed?: boolean;
    /** Each diff is shown only when it is asked for. */
    isFolded?: boolean;
    /** What can be done with one of them. */
    actions?: (change: Change) => JSX.Element;
  }): JSX.Element => {
    return (
      <ul className="da-change-list">
        {props.changes.map((change, index) => (
          <li key={`${change.path}\n${change.cellId ?? index}`}>
            <div className="da-change-head">
              <CellLink
                change={change}
                isProposed={!!props.isProposed}
                // What is proposed says the title over the list.
                isNamed={props.isProposed}
              />
              {props.actions?.(change)}
            </div>
            {props.isFolded ? (
              <FoldedDiff change={change} />
            ) : (
              <Diff change={change} />
            )}
          </li>
        ))}
      </ul>
    );
  }
);

/** A line that opens to the diff. */
function FoldedDiff(props: { change: Change }): JSX.Element | null {
  const { before, after } = props.change;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if ((before ?? '') === (after ?? '')) {
    return null;
  }
  return (
    <>
      <button
        type="button"
        className="da-link"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Hide diff' : 'Show diff'}
      </button>
      {isOpen && (
        <div id={id}>
          <Diff change={props.change} />
        </div>
      )}
    </>
  );
}

/** A change as words that lead to its cell. */
export function CellLink(props: {
  change: Change;
  isProposed: boolean;
  /** Only which cell it is, and not what becomes of it. */
  isNamed?: boolean;
}): JSX.Element {
  const { model } = usePanel();
  const { change, isProposed, isNamed } = props;
  const label = change.cellId
    ? model.editor.cell(change.path, change.cellId)
    : null;
  const source = change.op === 'delete' ? change.before : change.after;
  // Of what is proposed, the code is right below; a file has its name.
  const firstLine =
    isProposed || !change.cellId ? '' : (label?.firstLine ?? firstOf(source));
  const now = label ? { ...change, index: label.number - 1 } : change;
  const text =
    isNamed && now.index !== undefined
      ? `Cell ${now.index + 1}`
      : changeLabel(now, isProposed);
  return (
    <button
      type="button"
      className="da-link"
      disabled={change.op === 'delete' && !isProposed}
      onClick={() => void model.editor.reveal(change.path, change.cellId)}
    >
      {text}
      {firstLine && <code className="da-first-line">{firstLine}</code>}
    </button>
  );
}

function firstOf(source?: string): string {
  return source?.split('\n').find(line => line.trim()) ?? '';
}
