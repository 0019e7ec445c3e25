import React, { useId, useRef, useState } from 'react';

import { ActionParameter } from '../api/types';
import { IProposalEntry } from '../session/turn';
import { useAfterRender } from '../ui/afterRender';
import { LazyForm } from './LazyForm';

/** An action that the user may run: what it would be run with, and the button to its form. */
export function ProposalCard(props: {
  entry: IProposalEntry;
  /** The message that was understood so. */
  message: string;
  /** Whether there is a newer one of the same proposal. */
  isReplaced?: boolean;
  /** Whether it was run. */
  isDone: boolean;
  /** Run it; false where that could not be asked. */
  run: (parameters: Record<string, unknown>) => Promise<boolean>;
}): JSX.Element {
  const { entry, message, isReplaced, isDone, run } = props;
  const { proposal } = entry;
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const focusButton = useAfterRender(() => button.current?.focus());
  const heading = useId();
  const { title, description, parameters, destroys, complete } = proposal;
  if (isReplaced) {
    return (
      <div className="da-dim" data-testid="da-proposal-replaced">
        {`${title} · Replaced by a newer proposal`}
      </div>
    );
  }
  const label = isDone ? 'Run again…' : complete ? title : 'Fill in and run…';
  const close = () => {
    setOpen(false);
    focusButton();
  };
  return (
    <section
      className="da-proposal"
      aria-labelledby={heading}
      data-testid="da-proposal"
      data-complete={complete}
      onKeyDown={event => {
        if (event.key === 'Escape' && isOpen) {
          // The panel's Escape stops the agent, which is not meant here.
          event.preventDefault();
          close();
        }
      }}
    >
      <h3 id={heading}>{title}</h3>
      {description && <p className="da-dim">{description}</p>}
      {isOpen ? (
        <LazyForm proposal={proposal} onRun={run} onClose={close} />
      ) : (
        <>
          <Parameters parameters={parameters} message={message} />
          {destroys && (
            <div className="da-notice da-mod-warning">{destroys}</div>
          )}
          <div className="da-buttons">
            <button
              type="button"
              ref={button}
              className={`da-button ${isDone ? '' : 'da-mod-primary'}`}
              data-testid="da-open-form"
              aria-expanded={false}
              onClick={() => setOpen(true)}
            >
              {label}
            </button>
          </div>
        </>
      )}
    </section>
  );
}

function Parameters(props: {
  parameters: readonly ActionParameter[];
  message: string;
}): JSX.Element {
  const shown = [...props.parameters].sort((a, b) => rank(a) - rank(b));
  return (
    <dl className="da-parameters">
      {shown.map(each => (
        <React.Fragment key={each.name}>
          <dt>{each.title}</dt>
          <dd data-found={each.found} data-required={each.required}>
            {each.found ? (
              <Found parameter={each} message={props.message} />
            ) : (
              <Missing parameter={each} />
            )}
          </dd>
        </React.Fragment>
      ))}
    </dl>
  );
}

function Found(props: {
  parameter: ActionParameter;
  message: string;
}): JSX.Element {
  const { display, value, source } = props.parameter;
  const text = display ?? String(value ?? '');
  // What the user wrote is quoted; elsewhere it says where it is from.
  const isQuoted =
    !!source && props.message.toLowerCase().includes(source.toLowerCase());
  return (
    <>
      {text}
      {source && source !== text && (
        <span className="da-dim">
          {isQuoted ? ` from “${source}”` : ` · ${source}`}
        </span>
      )}
    </>
  );
}

function Missing(props: { parameter: ActionParameter }): JSX.Element {
  const { required, problem, secret } = props.parameter;
  return (
    <>
      <span className={required ? 'da-needed' : 'da-dim'}>
        {required ? 'Required' : 'Optional'}
      </span>
      {secret && <span className="da-dim"> · asked in the form</span>}
      {problem && <div className="da-problem">{problem}</div>}
    </>
  );
}

/** What is found, then what is needed, then what may stay empty. */
function rank({ found, required }: ActionParameter): number {
  return found ? 0 : required ? 1 : 2;
}
