import React, { useEffect, useRef } from 'react';

import { ModelsReply } from '../../api/types';
import { IReadiness, readinessOf } from '../composer/models';
import { useValue } from '../../session/observable';
import { LocalServers } from '../connect/LocalServers';
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

  const canConnect = !!models?.canConnect;
  const canLook = canConnect && !models.locked && !props.isFolded;
  const isSeen = useValue(model.isSeen);

  useLookout(isReady);
  useEffect(() => {
    if (!isReady && canLook && isSeen) {
      void model.toolsPanel.connect.lookOnce();
    }
  }, [model, isReady, canLook, isSeen]);
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
      {canConnect ? (
        <>
          {other && <p>{message}</p>}
          <div className="da-buttons">
            <button
              type="button"
              className="da-button da-mod-primary"
              data-testid="da-connect-open"
              onClick={() => model.toolsPanel.showConnect()}
            >
              Connect a Model
            </button>
          </div>
          {canLook && (
            <div className="da-connect">
              <LocalServers />
            </div>
          )}
          {!!models?.connections.length && (
            <details className="da-more">
              <summary>Without the panel: variables and settings</summary>
              {!other && <p>{message}</p>}
              <ByHand ways={models.connections} />
            </details>
          )}
        </>
      ) : (
        <>
          <p>{message}</p>
          {!!models?.connections.length && <ByHand ways={models.connections} />}
        </>
      )}
      <div className="da-buttons">
        {other && (
          <button
            type="button"
            className="da-button"
            onClick={() => model.composerState.choose({ model: other.id })}
          >
            {`Use ${other.label}`}
          </button>
        )}
        {!canLook && (
          <button
            type="button"
            className="da-button"
            onClick={() => void model.refreshModels()}
          >
            Check again
          </button>
        )}
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

/** The ways to connect a model in a terminal; text in backticks is a command. */
function ByHand(props: { ways: ModelsReply['connections'] }): JSX.Element {
  return (
    <div className="da-connections">
      {props.ways.map(({ title, steps }) => (
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
