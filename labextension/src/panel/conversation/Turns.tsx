import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React, { memo, useId, useState } from 'react';

import { ConversationStore } from '../../session/store';
import { useValue } from '../../session/observable';
import { foldWithdrawn } from '../../session/reverted';
import { TurnView } from './Turn';

/** Properties of `Turns`. */
export interface ITurnsProps {
  store: ConversationStore;
  ids: readonly string[];
  withdrawn: ReadonlySet<string>;
  /** The turn that is marked for a moment. */
  marked: string | null;
}

/** The turns in their order; those that were reverted are folded. */
export const Turns = memo((props: ITurnsProps): JSX.Element => {
  const { store, marked } = props;
  return (
    <>
      {foldWithdrawn(props.ids, props.withdrawn).map(({ ids, isWithdrawn }) =>
        isWithdrawn ? (
          <Withdrawn key={ids[0]} store={store} ids={ids} marked={marked} />
        ) : (
          ids.map(id => (
            <TurnView key={id} turn={store.turn(id)} isMarked={id === marked} />
          ))
        )
      )}
    </>
  );
});

/** Turns that the user went back to before: a line, which opens to them, greyed. */
function Withdrawn(props: {
  store: ConversationStore;
  ids: readonly string[];
  marked: string | null;
}): JSX.Element {
  const { store, ids, marked } = props;
  const [isWanted, setWanted] = useState<boolean | null>(null);
  const undecided = useValue(store.open);
  const id = useId();
  // What waits for the user's decision is not hidden.
  const waits = undecided.some(
    turn => turn.conflicts.length > 0 && ids.includes(turn.id)
  );
  const isOpen =
    (isWanted ?? waits) || (marked !== null && ids.includes(marked));
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  return (
    <div className="da-withdrawn" data-testid="da-withdrawn">
      <button
        type="button"
        className="da-tool-line"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setWanted(!isOpen)}
      >
        <span className="da-tool-label">
          {ids.length === 1
            ? '1 turn reverted'
            : `${ids.length} turns reverted`}
        </span>
        <Caret tag="span" className="da-caret" aria-hidden="true" />
      </button>
      {isOpen && (
        <div id={id} className="da-withdrawn-turns">
          {ids.map(turnId => (
            <TurnView
              key={turnId}
              turn={store.turn(turnId)}
              isMarked={turnId === marked}
              isWithdrawn
            />
          ))}
        </div>
      )}
    </div>
  );
}
