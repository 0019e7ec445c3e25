import React, { useId, useMemo, useState } from 'react';

import { Change } from '../../api/types';
import { ChangeBar, KeepUndo } from '../../approvals/ChangeBar';
import { changeCountLabel } from '../../session/changes';
import { openChanges } from '../../session/reduceDecided';
import { leftLabel } from '../../session/undoLabels';
import { emptyTurn } from '../../session/turn';
import { Observable, useValue } from '../../session/observable';
import { ChangeList } from './ChangeList';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';

/** Of more changes, the diffs are shown one by one. */
const MOST_OPEN = 5;

const NO_TURN = new Observable(emptyTurn(''));

/** What the newest turn of which nothing is decided has changed; gone when there is none. */
export function ChangesBar(): JSX.Element | null {
  const { model } = usePanel();
  const composer = useComposer();
  const { store } = useValue(model.shown);
  const { turnIds, runningTurnId } = useValue(store.conversation);
  const turnId = useValue(store.undecided);
  const turn = useValue(turnId ? store.turn(turnId) : NO_TURN);
  const isBusy = useValue(model.changes.deciding) !== null;
  const others = useValue(store.open)
    .filter(other => other.id !== turnId)
    .flatMap(openChanges).length;
  const changes = useMemo(() => openChanges(turn), [turn]);
  const [isOpen, setOpen] = useState(false);
  // As it was when the list was opened: nothing unfolds while one after the other is decided on.
  const [isFolded, setFolded] = useState(false);
  const id = useId();
  if (!turnId || !changes.length) {
    return null;
  }
  // While a turn runs, documents may change under an undo.
  const canDecide = !runningTurnId;
  const isEarlier = turnId !== turnIds[turnIds.length - 1];
  const left = turn.conflicts.length;
  return (
    <section
      className="da-changes"
      data-testid="da-changes"
      aria-label="Changes"
    >
      <div className="da-changes-bar">
        <ChangeBar
          label={
            left === changes.length
              ? `${leftLabel(turn.conflicts)} to review above`
              : `${changeCountLabel(changes)}${isEarlier ? ' earlier' : ''}`
          }
          more={others > 0 ? `${others} earlier` : undefined}
          className="da-link"
          testId={act => `da-${act}`}
          isLocked={!canDecide}
          isBusy={isBusy}
          keep={() => {
            model.changes.keep(turnId);
            composer.focus();
          }}
          undo={() => {
            model.changes.undo(turnId);
            composer.focus();
          }}
          showDiff={() => model.changes.showDiff(turnId)}
          before={
            <button
              type="button"
              className="da-link"
              aria-expanded={isOpen}
              aria-controls={id}
              onClick={() => {
                setFolded(changes.length > MOST_OPEN);
                setOpen(!isOpen);
              }}
            >
              {isOpen ? 'Hide' : 'View'}
            </button>
          }
        />
      </div>
      {isOpen && (
        <div id={id} className="da-changes-list">
          <ChangeList
            changes={changes}
            isFolded={isFolded}
            actions={
              canDecide && changes.length > 1
                ? change => <OfOne turnId={turnId} change={change} />
                : undefined
            }
          />
        </div>
      )}
    </section>
  );
}

/** Keep or take back a single cell, or file. */
function OfOne(props: { turnId: string; change: Change }): JSX.Element {
  const { model } = usePanel();
  const { turnId, change } = props;
  const { path, cellId } = change;
  const isBusy = useValue(model.changes.deciding) !== null;
  const number = cellId && model.editor.cell(path, cellId)?.number;
  const name = cellId ? (number ? `cell ${number}` : 'this cell') : path;
  return (
    <span className="da-change-actions">
      <KeepUndo
        what={name}
        className="da-link"
        testId={act => `da-${act}-cell`}
        isBusy={isBusy}
        keep={() => model.changes.keepOne(turnId, change)}
        undo={() => model.changes.undoOne(turnId, change)}
      />
    </span>
  );
}
