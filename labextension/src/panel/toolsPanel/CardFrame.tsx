import { closeIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useId, useRef } from 'react';

import { IconButton } from '../../ui/IconButton';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';

/** The frame of a card: a title, a button that closes it, and what it holds. */
export function CardFrame(props: {
  title: string;
  testId: string;
  /** More buttons beside the one that closes. */
  actions?: React.ReactNode;
  /** Take the focus when it comes up: the user asked for it. */
  takesFocus?: boolean;
  children: React.ReactNode;
}): JSX.Element {
  const { title, testId, actions, takesFocus, children } = props;
  const { model } = usePanel();
  const composer = useComposer();
  const heading = useRef<HTMLHeadingElement>(null);
  const id = useId();
  const close = () => {
    model.toolsPanel.close();
    composer.focus();
  };
  useEffect(() => {
    if (takesFocus) {
      heading.current?.focus();
    }
  }, [takesFocus]);
  return (
    <section
      className="da-card"
      data-testid={testId}
      aria-labelledby={id}
      onKeyDown={event => {
        const isField = event.target instanceof HTMLInputElement;
        if (event.key === 'Escape' && !isField) {
          // The panel's Escape stops the agent, which is not meant here.
          event.preventDefault();
          close();
        }
      }}
    >
      <header className="da-card-head">
        <h3 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h3>
        {actions}
        <IconButton
          icon={closeIcon}
          label={`Close: ${title}`}
          onClick={close}
        />
      </header>
      <div className="da-card-body">{children}</div>
    </section>
  );
}

/** A list of things to begin, each a button with a line that says what it does. */
export function ChoiceList(props: {
  items: readonly {
    key: string;
    name: string;
    about: string;
    aside?: string;
    action?: string;
    disabled?: boolean;
    onClick: () => void;
  }[];
}): JSX.Element {
  return (
    <ul className="da-suggestions">
      {props.items.map(
        ({ key, name, about, aside, action, disabled, onClick }) => (
          <li key={key}>
            <button
              type="button"
              className="da-suggestion"
              data-item={key}
              disabled={disabled}
              onClick={onClick}
            >
              <span className="da-choice-name">
                <strong>{name}</strong>
                {aside && <span className="da-dim">{aside}</span>}
              </span>
              <span className="da-choice-about">{about}</span>
              {action && <span className="da-choice-action">{action}</span>}
            </button>
          </li>
        )
      )}
    </ul>
  );
}
