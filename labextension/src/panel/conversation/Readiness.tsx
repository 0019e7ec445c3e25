import React, { useEffect, useRef } from 'react';

import { IReadiness, readinessOf } from '../composer/models';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** How often it is looked for a model while there is none and the page is seen, in ms. */
const LOOK_MS = 10_000;

/** Whether the next message could be answered. */
export function useReadiness(): IReadiness {
  const { model } = usePanel();
  const models = useValue(model.models);
  const { model: chosen } = useValue(model.composerState);
  return readinessOf(models, chosen);
}

/** Where no model is ready: what was looked for, and the ways to connect one. */
export function Readiness(props: {
  /** One line until it is wanted, as under a conversation. */
  isFolded?: boolean;
}): JSX.Element | null {
  const { model } = usePanel();
  const models = useValue(model.models);
  const notice = useValue(model.notice);
  const { isReady, message, other } = useReadiness();
  const card = useRef<HTMLDivElement>(null);
  const isWanted = !isReady && notice?.needs === 'model';

  useLookout(isReady);
  useEffect(() => {
    if (isWanted) {
      card.current?.scrollIntoView?.({ block: 'start' });
    }
  }, [isWanted]);

  if (isReady) {
    return null;
  }
  const title = other
    ? 'The chosen model is not set up'
    : 'No model is connected yet';
  const content = (
    <>
      <p>{message}</p>
      {!!models?.connections.length && (
        <div className="da-connections">
          {models.connections.map(({ title, steps }) => (
            <details key={title} className="da-more">
              <summary>{title}</summary>
              <div className="da-steps">
                {steps
                  .split('`')
                  .map((part, index) =>
                    index % 2 ? <code key={index}>{part}</code> : part
                  )}
              </div>
            </details>
          ))}
        </div>
      )}
      <div className="da-buttons">
        {other && (
          <button
            type="button"
            className="da-button da-mod-primary"
            onClick={() => model.composerState.choose({ model: other.id })}
          >
            {`Use ${other.label}`}
          </button>
        )}
        <button
          type="button"
          className="da-button"
          onClick={() => void model.refreshModels()}
        >
          Check again
        </button>
      </div>
    </>
  );
  return (
    <div className="da-welcome" data-ready="false" ref={card}>
      {props.isFolded ? (
        <details className="da-more" key={String(isWanted)} open={isWanted}>
          <summary>{title}</summary>
          {content}
        </details>
      ) : (
        <>
          <h3>{title}</h3>
          {content}
        </>
      )}
    </div>
  );
}

/** A model that is connected elsewhere is found when the user comes back, or soon. */
function useLookout(isReady: boolean): void {
  const { model } = usePanel();
  useEffect(() => {
    if (isReady) {
      return;
    }
    const look = () => {
      if (!document.hidden && model.link.current.status === 'online') {
        // Nobody asked: a failure is reported when the user asks.
        model.models.refresh().catch(() => undefined);
      }
    };
    const timer = setInterval(look, LOOK_MS);
    window.addEventListener('focus', look);
    return () => {
      clearInterval(timer);
      window.removeEventListener('focus', look);
    };
  }, [model, isReady]);
}
