import { closeIcon } from '@jupyterlab/ui-components';
import React, { useId, useState } from 'react';

import { ICellOffer } from './fixController';
import { emptyTurn } from '../../session/turn';
import { Observable, useValue } from '../../session/observable';
import { useEditorChanges } from '../composer/editorChanges';
import { FixChips } from './Fixes';
import { IconButton } from '../../ui/IconButton';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';

const NO_TURN = new Observable(emptyTurn(''));

/** In a conversation: fixes for the newest cell that failed when the user ran it. */
export function FixLine(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId, turnIds } = useValue(store.conversation);
  const offers = useValue(model.fixes.offers);
  // An empty conversation offers them by itself.
  return offers.length && turnIds.length && !runningTurnId ? (
    <Line offers={offers} />
  ) : null;
}

function Line(props: { offers: readonly ICellOffer[] }): JSX.Element | null {
  const { model } = usePanel();
  const composer = useComposer();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const ofTurn = useNewestOffers();
  useEditorChanges();
  const front = model.editor.activeNotebook;
  const offers = props.offers.filter(
    offer =>
      offer.path === front &&
      !ofTurn.has(offer.cellId) &&
      model.fixes.isCurrent(offer)
  );
  if (!offers.length) {
    return null;
  }
  const [newest, ...older] = offers;
  const rest = newest.fixes.slice(1);
  const more = [...(rest.length ? [{ ...newest, fixes: rest }] : []), ...older];
  const count = more.reduce((sum, { fixes }) => sum + fixes.length, 0);
  return (
    <div data-testid="da-fix-line">
      <FixChips
        key={newest.cellId}
        offer={newest}
        inLine={
          <>
            {count > 0 && (
              <button
                type="button"
                className="da-link"
                aria-expanded={isOpen}
                aria-controls={id}
                onClick={() => setOpen(!isOpen)}
              >
                {isOpen ? 'Fewer' : `and ${count} more`}
              </button>
            )}
            <IconButton
              icon={closeIcon}
              label="Dismiss the fixes for this error"
              onClick={() => {
                model.fixes.close();
                composer.focus();
              }}
            />
          </>
        }
      />
      {isOpen && count > 0 && (
        <div id={id} className="da-more-fixes">
          {more.map(offer => (
            <FixChips key={offer.cellId} offer={offer} />
          ))}
        </div>
      )}
    </div>
  );
}

/** The cells for which the newest turn offers fixes itself. */
function useNewestOffers(): ReadonlySet<string> {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { turnIds } = useValue(store.conversation);
  const newest = turnIds[turnIds.length - 1];
  const turn = useValue(newest ? store.turn(newest) : NO_TURN);
  return new Set(turn.offers.map(({ cellId }) => cellId));
}
