import { Clipboard } from '@jupyterlab/apputils';
import { checkIcon, copyIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { IAnswerProps } from './AnswerView';
import { Provenance } from '../../api/types';
import { scratchpadIcon } from '../../ui/icons';
import { Elapsed } from '../../ui/Elapsed';
import { IconButton } from '../../ui/IconButton';
import { Used } from '../conversation/Used';
import { usageParts } from '../conversation/usageLabels';
import { usePanel } from '../context';

interface IAnswerFootProps extends IAnswerProps {
  /** What the answer is called in labels. */
  name: string;
  text: string;
  isChosen: boolean;
  provenance?: Provenance;
}

/** How an answer goes or ended, what it took, and what can be done with it. */
export function AnswerFoot(props: IAnswerFootProps): JSX.Element {
  const { model } = usePanel();
  const { answer, turn, name, text, isChosen, provenance } = props;
  const isRunning = answer.status === 'running';
  const isDone = answer.status === 'completed';
  // One alone is stopped by the button below, or the input's.
  const isOneOfSeveral =
    turn.answers.filter(({ sources }) => !sources).length > 1 &&
    !answer.sources;
  return (
    <>
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
          <span className="da-used">
            <span className="da-working-dot" aria-hidden="true" />
            {answer.activity ?? 'Answering'}
            {answer.startedAt !== undefined && (
              <Elapsed since={answer.startedAt} />
            )}
          </span>
        ) : (
          <Used parts={usageParts(answer.usage, answer.durationMs)} />
        )}
        <span className="da-foot-acts">
          {isRunning && isOneOfSeveral && (
            <button
              type="button"
              className="da-link"
              aria-label={`Stop the answer of ${name}`}
              onClick={() => model.answers.stop(answer.id)}
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
          {isDone && (
            <IconButton
              icon={scratchpadIcon}
              label={`Send the answer of ${name} to the scratchpad`}
              className="da-foot-button"
              onClick={() =>
                void model.scratchpad.send({
                  content: text,
                  turnId: turn.id,
                  provenance
                })
              }
            />
          )}
        </span>
      </footer>
      {isChosen && (
        <div className="da-chosen" data-testid="da-chosen">
          <checkIcon.react
            tag="span"
            className="da-status-icon"
            aria-hidden="true"
          />
          In use: the session continues from this answer
        </div>
      )}
      {isDone && props.canChoose && !isChosen && (
        <button
          type="button"
          className="da-button da-use-answer"
          data-testid="da-use-answer"
          aria-label={`Use the answer of ${name}`}
          onClick={() => model.answers.choose(turn.id, answer.id)}
        >
          Use this answer
        </button>
      )}
    </>
  );
}
