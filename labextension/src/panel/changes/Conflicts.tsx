import React, { useEffect, useId, useRef } from 'react';

import { UndoConflict } from '../../api/types';
import { isLexical, wholeOf } from '../../notebook/documentKind';
import { ITurn } from '../../session/turn';
import { useValue } from '../../session/observable';
import { Diff } from './Diff';
import { usePanel } from '../context';

/** Cells and files that an undo left as they are: what was, what is, and the user's answer. */
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
  const file = isLexical(path) ? `A block of ${path}` : path;
  const name = cellId ? (number ? `Cell ${number}` : 'A cell') : file;
  return (
    <section
      className="da-waiting da-conflict"
      data-testid="da-conflict"
      aria-labelledby={id}
      ref={frame}
    >
      <h3 id={id}>
        {now === undefined
          ? `${name} was deleted in the meantime.`
          : `${name} was edited in the meantime.`}
      </h3>
      {(cellId || before !== undefined) && (
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
              <summary>Agent's version</summary>
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
          onClick={() => model.changes.keepOne(turnId, conflict)}
        >
          {now === undefined ? 'Leave it deleted' : 'Keep the current version'}
        </button>
        <button
          type="button"
          className="da-button"
          data-testid="da-conflict-restore"
          disabled={isBusy}
          onClick={() => model.changes.undoOne(turnId, conflict, true)}
        >
          {restoreLabel(conflict)}
        </button>
        {number !== undefined && (
          <button
            type="button"
            className="da-link"
            onClick={() => void model.editor.reveal(path, cellId)}
          >
            Go to cell
          </button>
        )}
      </div>
    </section>
  );
}

function whatUndoDoes({ before, now }: UndoConflict): string {
  if (now === undefined) {
    return 'Undoing anyway would restore this:';
  }
  return before === undefined
    ? 'The agent added it. Undoing anyway would delete it with its current contents:'
    : 'Undoing anyway would replace the current text (−) with the earlier text (+):';
}

function restoreLabel({ path, cellId, before, now }: UndoConflict): string {
  const noun = cellId ? 'cell' : wholeOf(path);
  if (before === undefined) {
    return `Delete the ${noun}`;
  }
  return now === undefined ? `Restore the ${noun}` : 'Restore the earlier text';
}
