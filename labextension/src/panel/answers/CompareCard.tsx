import React, { useEffect, useRef, useState } from 'react';

import { FEWEST_MODELS, MOST_MODELS } from './compareController';
import { otherModels } from './answersController';
import { unavailableReason } from '../composer/ModelSelect';
import { useComposer } from '../composer/composerContext';
import { CardFrame } from '../toolsPanel/CardFrame';
import { ICompareCard } from '../toolsPanel/toolsPanel';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';

/** The choice of the models that answer a message side by side. */
export function CompareCard(props: { card: ICompareCard }): JSX.Element {
  const { turnId, problem } = props.card;
  const { model } = usePanel();
  const { compare } = model;
  const composer = useComposer();
  const reply = useValue(model.models);
  useValue(model.composerState);
  const { store } = useValue(model.shown);
  const [question, setQuestion] = useState(props.card.question);
  const [named] = useState(() => compare.takeNamed());
  const [own, setOwn] = useState<readonly string[] | null>(named);
  const form = useRef<HTMLFormElement>(null);

  const turn = turnId ? store.turn(turnId).current : undefined;
  const others = turn && otherModels(reply, turn);
  const choices = compare.choices.filter(
    ({ id }) => !others || others.includes(id)
  );
  const wanted = own ?? (turn ? [] : compare.initial);
  const chosen = wanted.filter(id => choices.some(each => each.id === id));
  const fewest = turn ? 1 : FEWEST_MODELS;
  const isEnough = chosen.length >= fewest && chosen.length <= MOST_MODELS;
  const canSend = isEnough && (!!turn || !!question.trim());

  // Where the message is there already, only the models are to be looked at.
  useEffect(() => {
    const isReady = !!props.card.question && !problem;
    const first = form.current?.querySelector<HTMLElement>(
      isReady ? '[type="submit"]:not(:disabled)' : 'textarea, input'
    );
    (first ?? form.current?.querySelector<HTMLElement>('input'))?.focus();
  }, [problem, props.card.question]);

  const toggle = (id: string) =>
    setOwn(
      chosen.includes(id)
        ? chosen.filter(each => each !== id)
        : choices
            .map(each => each.id)
            .filter(each => each === id || chosen.includes(each))
    );
  const send = async () => {
    if (!canSend) {
      return;
    }
    if (turn) {
      compare.ask(turn.id, chosen);
    } else if (await compare.send(question, chosen)) {
      composer.focus();
    }
  };
  const close = () => {
    model.toolsPanel.close();
    if (!turn && question.trim()) {
      composer.offer(question);
    }
    composer.focus();
  };
  return (
    <CardFrame
      title={turn ? 'Regenerate with several models' : 'Compare models'}
      testId="da-compare"
    >
      <form
        ref={form}
        onSubmit={event => {
          event.preventDefault();
          void send();
        }}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.preventDefault();
            event.stopPropagation();
            close();
          }
        }}
      >
        {!turn && (
          <textarea
            className="da-field da-compare-question"
            aria-label="Message to several models"
            placeholder="Ask several models the same"
            rows={2}
            value={question}
            onChange={event => setQuestion(event.target.value)}
            onKeyDown={event => {
              const { isComposing } = event.nativeEvent;
              if (event.key === 'Enter' && !event.shiftKey && !isComposing) {
                event.preventDefault();
                void send();
              }
            }}
          />
        )}
        {problem && (
          <div className="da-notice da-mod-error" role="alert">
            {problem}
          </div>
        )}
        {choices.length < fewest ? (
          <TooFew
            isLocked={!!reply?.locked}
            names={choices.map(c => c.label)}
          />
        ) : (
          <fieldset className="da-compare-models">
            <legend>
              {`Models (${chosen.length} of up to ${MOST_MODELS})`}
            </legend>
            {choices.map(({ id, label }) => {
              const isChosen = chosen.includes(id);
              return (
                <label key={id} title={id}>
                  <input
                    type="checkbox"
                    checked={isChosen}
                    disabled={!isChosen && chosen.length >= MOST_MODELS}
                    onChange={() => toggle(id)}
                  />
                  {label}
                </label>
              );
            })}
          </fieldset>
        )}
        <p className="da-dim">
          {turn && !turn.compare
            ? 'They answer from what the first model read.'
            : 'They read notebooks and files, and change and run nothing.'}
        </p>
        <div className="da-buttons">
          <button
            type="submit"
            className="da-button da-mod-primary"
            disabled={!canSend}
          >
            {turn ? 'Regenerate' : 'Compare'}
          </button>
        </div>
      </form>
    </CardFrame>
  );
}

/** What to do where there are not enough models. */
function TooFew(props: { isLocked: boolean; names: string[] }): JSX.Element {
  const { model } = usePanel();
  const reply = useValue(model.models);
  if (props.isLocked) {
    return (
      <p role="alert">
        The model is set by the server administrator, so models cannot be
        compared here.
      </p>
    );
  }
  const unready = (reply?.models ?? []).filter(({ ready }) => !ready);
  const [only] = props.names;
  return (
    <div role="alert">
      <p>
        {only
          ? `Only ${only} is ready. To compare, set up a second model:`
          : 'No model is ready. To compare, set up two models:'}
      </p>
      <ul className="da-compare-missing">
        {unready.map(info => (
          <li key={info.id}>
            {info.label}{' '}
            <span className="da-dim">{unavailableReason(info)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
