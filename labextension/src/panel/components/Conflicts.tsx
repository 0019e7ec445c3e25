import React, { useEffect, useId, useRef } from 'react';

import { UndoConflict } from '../../api/types';
import { ITurn } from '../state/turn';
import { useValue } from '../state/value';
import { Diff } from './Diff';
import { usePanel } from './context';

/** Cells that an undo left as they are: what was, what is, and the person's answer. */
export function Conflicts(props: { turn: ITurn }): JSX.Element {
  const { turn } = props;
  return (
    <>
      {turn.conflicts.map(conflict => (
        <Conflict
          key={`${conflict.path}\n${conflict.cellId}`}
          conflict={conflict}
          turnId={turn.id}
        />
      ))}
    </>
  );
}

function Conflict(props: {
  conflict: UndoConflict;
  turnId: string;
}): JSX.Element {
  const { model } = usePanel();
  const { conflict, turnId } = props;
  const { path, cellId, before, after, now } = conflict;
  const { runningTurnId } = useValue(useValue(model.shown).store.conversation);
  const isBusy = useValue(model.changes.deciding) !== null || !!runningTurnId;
  const frame = useRef<HTMLElement>(null);
  const id = useId();
  // It may come up far from where Undo was pressed.
  useEffect(() => {
    if (model.changes.isOwn(turnId)) {
      frame.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [model, turnId]);
  const number = cellId ? model.editor.cell(path, cellId)?.number : undefined;
  const name = cellId ? (number ? `Cell ${number}` : 'A cell') : path;
  return (
    <section
      className="da-waiting da-conflict"
      data-testid="da-conflict"
      aria-labelledby={id}
      ref={frame}
    >
      <h3 id={id}>
        {now === undefined
          ? `${name} was removed since.`
          : `${name} was changed since.`}
      </h3>
      {cellId && (
        <>
          <p>{whatUndoDoes(conflict)}</p>
          {now !== undefined || before !== undefined ? (
            <Diff
              change={{
                path,
                cellId,
                op: 'update',
                before: now,
                after: before
              }}
            />
          ) : null}
          {after !== undefined && (
            <details>
              <summary>What the agent wrote</summary>
              <Diff change={{ path, cellId, op: 'update', before, after }} />
            </details>
          )}
        </>
      )}
      <div className="da-buttons">
        <button
          type="button"
          className="da-button"
          data-testid="da-conflict-keep"
          disabled={isBusy}
          onClick={() => model.changes.keep(turnId, [cellId])}
        >
          {now === undefined ? 'Leave it removed' : 'Keep what is there'}
        </button>
        <button
          type="button"
          className="da-button"
          data-testid="da-conflict-restore"
          disabled={isBusy}
          onClick={() => model.changes.undo(turnId, [cellId], true)}
        >
          {restoreWords(conflict)}
        </button>
        {number !== undefined && (
          <button
            type="button"
            className="da-link"
            onClick={() => void model.editor.reveal(path, cellId)}
          >
            Go there
          </button>
        )}
      </div>
    </section>
  );
}

function whatUndoDoes({ before, now }: UndoConflict): string {
  if (now === undefined) {
    return 'To undo all the same would put this back:';
  }
  return before === undefined
    ? 'The agent had added it. To undo all the same would remove it with what stands there now:'
    : 'To undo all the same would take out what stands there now (−) and put back what stood before (+):';
}

function restoreWords({ cellId, before, now }: UndoConflict): string {
  if (!cellId) {
    return 'Delete the file';
  }
  if (before === undefined) {
    return 'Remove the cell';
  }
  return now === undefined ? 'Put the old cell back' : 'Restore the old text';
}
