import { Clipboard } from '@jupyterlab/apputils';
import { copyIcon } from '@jupyterlab/ui-components';
import React, { memo, useId, useMemo } from 'react';

import { isLast, modelName } from './answersController';
import { scratchpadIcon } from '../../ui/icons';
import { textOf } from '../../session/answers';
import { IAnswer, ITurn } from '../../session/turn';
import { usageParts } from './usageLabels';
import { useValue } from '../../session/observable';
import { IconButton } from '../../ui/IconButton';
import { Markdown } from './Markdown';
import { Used } from './Used';
import { usePanel } from '../context';

/** What other models answered to the same message, and which answer the session goes on from. */
export function FurtherAnswers(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  if (!turn.answers.length) {
    return null;
  }
  return (
    <>
      {turn.answers.map(answer => (
        <FurtherAnswer key={answer.id} answer={answer} turnId={turn.id} />
      ))}
      {turn.answers.some(({ status }) => status === 'completed') && (
        <GoOnFrom turn={turn} />
      )}
    </>
  );
}

const FurtherAnswer = memo(
  (props: { answer: IAnswer; turnId: string }): JSX.Element => {
    const { model } = usePanel();
    const { answer, turnId } = props;
    const name = modelName(useValue(model.models), answer.model);
    const text = textOf(answer);
    const isRunning = answer.status === 'running';
    const provenance = useMemo(
      () => answer.provenance && { ...answer.provenance, aiTurnId: turnId },
      [answer.provenance, turnId]
    );
    return (
      <section
        className="da-further"
        data-testid="da-further-answer"
        data-status={answer.status}
        aria-label={`Regenerated: ${name}`}
      >
        <div className="da-further-head" title={answer.model}>
          {name}
        </div>
        {text.trim() && (
          <div className="da-assistant">
            <Markdown
              text={text}
              isGrowing={isRunning}
              provenance={provenance}
            />
          </div>
        )}
        {answer.status === 'failed' && (
          <div className="da-notice da-mod-error" role="alert">
            {answer.message}
          </div>
        )}
        {answer.status === 'stopped' && (
          <div className="da-broken">{answer.message}</div>
        )}
        <footer className="da-foot">
          {isRunning ? (
            <WaitingForAnswer />
          ) : (
            <Used parts={usageParts(answer.usage)} />
          )}
          <span className="da-foot-acts">
            {isRunning && (
              <button
                type="button"
                className="da-link"
                onClick={() => model.answers.stop()}
              >
                Stop
              </button>
            )}
            {!isRunning && text.trim() && (
              <IconButton
                icon={copyIcon}
                label={`Copy the answer of ${name}`}
                className="da-foot-button"
                onClick={() => Clipboard.copyToSystem(text)}
              />
            )}
            {answer.status === 'completed' && (
              <IconButton
                icon={scratchpadIcon}
                label={`Send the answer of ${name} to the scratchpad`}
                className="da-foot-button"
                onClick={() =>
                  void model.scratchpad.send({
                    content: text,
                    turnId,
                    provenance
                  })
                }
              />
            )}
          </span>
        </footer>
      </section>
    );
  }
);

function WaitingForAnswer(): JSX.Element {
  return (
    <span className="da-used">
      <span className="da-working-dot" aria-hidden="true" />
      Answering
    </span>
  );
}

/** The choice, while nothing was said after it; later, what was chosen. */
function GoOnFrom(props: { turn: ITurn }): JSX.Element | null {
  const { model } = usePanel();
  const { turn } = props;
  const { store } = useValue(model.shown);
  useValue(store.conversation);
  const reply = useValue(model.models);
  const group = useId();
  const answers = turn.answers.filter(({ status }) => status === 'completed');
  const chosen = answers.find(({ id }) => id === turn.chosen);
  const first = turn.model ? modelName(reply, turn.model) : 'the first answer';
  if (!isLast(store, turn)) {
    const name = chosen ? modelName(reply, chosen.model) : first;
    return (
      <div className="da-go-on" data-testid="da-went-on">
        Continued from {name}.
      </div>
    );
  }
  return (
    <fieldset className="da-go-on" data-testid="da-go-on">
      <legend>Continue from</legend>
      {[{ id: undefined, name: first }, ...named(answers, reply)].map(
        ({ id, name }) => (
          <label key={id ?? ''}>
            <input
              type="radio"
              name={group}
              checked={id === chosen?.id}
              onChange={() => model.answers.choose(turn.id, id)}
            />
            {name}
          </label>
        )
      )}
    </fieldset>
  );
}

/** The answers by their models; one that answered twice has a number. */
function named(
  answers: readonly IAnswer[],
  reply: Parameters<typeof modelName>[0]
): { id: string; name: string }[] {
  return answers.map(({ id, model }, index) => {
    const same = answers.filter(answer => answer.model === model);
    const before = answers.slice(0, index + 1).filter(a => a.model === model);
    const number = same.length > 1 ? ` (${before.length})` : '';
    return { id, name: `${modelName(reply, model)}${number}` };
  });
}
