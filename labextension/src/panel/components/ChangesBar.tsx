import React, { useId, useMemo, useState } from 'react';

import { countWords, mergeChanges } from '../state/changes';
import { emptyTurn } from '../state/turn';
import { Value, useValue } from '../state/value';
import { ChangeList } from './ChangeList';
import { usePanel } from './context';

const NO_TURN = new Value(emptyTurn(''));

/** What the newest turn changed; gone when it changed nothing. */
export function ChangesBar(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { turnIds } = useValue(store.conversation);
  const last = turnIds[turnIds.length - 1];
  const turn = useValue(last ? store.turn(last) : NO_TURN);
  const changes = useMemo(() => mergeChanges(turn.changes), [turn.changes]);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if (!changes.length) {
    return null;
  }
  return (
    <section
      className="da-changes"
      data-testid="da-changes"
      aria-label="Changes"
    >
      <div className="da-changes-bar">
        <span className="da-changes-count">{countWords(changes)}</span>
        <span className="da-changes-actions">
          <button
            type="button"
            className="da-link"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Hide' : 'View'}
          </button>
        </span>
      </div>
      {isOpen && (
        <div id={id} className="da-changes-list">
          <ChangeList changes={changes} />
        </div>
      )}
    </section>
  );
}
