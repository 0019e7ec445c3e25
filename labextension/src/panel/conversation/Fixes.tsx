import { editIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useId, useRef, useState } from 'react';

import { FixInfo } from '../../api/types';
import { partOf } from '../../notebook/documentKind';
import { INotebookError } from '../../notebook/editor';
import { IFixOffer, fixSteps, fixLabel } from '../../session/offers';
import { ITurn } from '../../session/turn';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** What could be done, without a model, about the cells that failed in the newest turn. */
export function OfferedFixes(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { turnIds } = useValue(store.conversation);
  // What was offered before is about cells as they were then.
  const isNewest = turnIds[turnIds.length - 1] === turn.id;
  if (!isNewest || !turn.offers.length) {
    return null;
  }
  return (
    <>
      {turn.offers.map(offer => (
        <FixChips key={offer.cellId} offer={offer} />
      ))}
    </>
  );
}

/** Fixes for the cell of a notebook that shows an error, where any is known. */
export function CellFixes(props: {
  path: string;
  error: INotebookError;
}): JSX.Element | null {
  const { path, error } = props;
  const { model } = usePanel();
  const latest = useRef(error);
  latest.current = error;
  const [offer, setOffer] = useState<IFixOffer | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setOffer(null);
    model.fixes.of(path, latest.current).then(
      found => isCurrent && setOffer(found),
      // Nobody asked for them: without them there is one thing less to click.
      () => undefined
    );
    return () => {
      isCurrent = false;
    };
  }, [model, path, error.cellId, error.text]);
  return offer?.fixes.length ? <FixChips offer={offer} /> : null;
}

/** A chip for each fix of a cell. */
export function FixChips(props: {
  offer: IFixOffer;
  /** Only the first one, in a line, and this behind it. */
  inLine?: JSX.Element;
}): JSX.Element {
  const { offer, inLine } = props;
  const { model } = usePanel();
  const [asked, setAsked] = useState<FixInfo | null>(null);
  const [isSent, setSent] = useState(false);
  const id = useId();
  const number = model.editor.cell(offer.path, offer.cellId)?.number;
  const part = partOf(offer.path);
  const cell = number ? `${part} ${number}` : `the ${part}`;
  const fixes = inLine ? offer.fixes.slice(0, 1) : offer.fixes;
  const carryOut = async (fix: FixInfo) => {
    setAsked(null);
    setSent(true);
    setSent(
      await model.send(`Fix ${cell}: ${fix.title}`, {
        notebook: offer.path,
        workflow: {
          id: 'fix-error',
          parameters: { cellId: offer.cellId, fixId: fix.id }
        }
      })
    );
  };
  return (
    <section
      className={inLine ? 'da-fix-line' : 'da-fixes'}
      aria-labelledby={id}
    >
      <div className="da-fix-head">
        <h3 id={id}>{`Fix ${cell}`}</h3>
        <div className="da-chips">
          {fixes.map(fix => (
            <button
              key={fix.id}
              type="button"
              className="da-fix"
              data-testid="da-fix"
              data-safe={fix.safe}
              title={fix.explanation}
              disabled={isSent}
              aria-expanded={fix.safe ? undefined : asked === fix}
              onClick={() =>
                fix.safe
                  ? void carryOut(fix)
                  : setAsked(asked === fix ? null : fix)
              }
            >
              <editIcon.react tag="span" className="da-chip-icon" aria-hidden />
              <span>{`${fixLabel(fix)}${fix.safe ? '' : ' …'}`}</span>
            </button>
          ))}
        </div>
        {inLine}
      </div>
      {asked && (
        <Confirm
          fix={asked}
          onDo={() => void carryOut(asked)}
          onCancel={() => setAsked(null)}
        />
      )}
    </section>
  );
}

/** What a fix that is not safe would do, and whether it should. */
function Confirm(props: {
  fix: FixInfo;
  onDo: () => void;
  onCancel: () => void;
}): JSX.Element {
  const { fix, onDo, onCancel } = props;
  return (
    <div className="da-fix-confirm" role="group" aria-label={fix.title}>
      <p>{fix.explanation}</p>
      <ol>
        {fixSteps(fix).map(({ what, code }, index) => (
          <li key={index}>
            {what}
            {code !== undefined && <pre>{code}</pre>}
          </li>
        ))}
      </ol>
      <div className="da-buttons">
        <button
          type="button"
          className="da-button da-mod-primary"
          autoFocus
          onClick={onDo}
        >
          Apply
        </button>
        <button type="button" className="da-button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}
