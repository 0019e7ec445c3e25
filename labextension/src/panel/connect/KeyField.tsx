import React, { RefObject, useId } from 'react';

import { ConnectionsReply } from '../../api/types';

/**
 * The field for a key. Its text is in the field alone, and never in the page's state: it is read
 * when it is sent, and the field is emptied once it is saved.
 */
export function KeyField(props: {
  field: RefObject<HTMLInputElement>;
  label: string;
  /** The name for tests. */
  testId: string;
  onInput?: () => void;
}): JSX.Element {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{props.label}</label>
      <input
        id={id}
        ref={props.field}
        className="da-field"
        type="password"
        autoComplete="off"
        spellCheck={false}
        data-testid={props.testId}
        onInput={props.onInput}
      />
    </>
  );
}

/** Where the key will be kept; without a keyring, the user decides on a file. */
export function KeyPlace(props: {
  reply: ConnectionsReply;
  isAgreed: boolean;
  onAgreed: (isAgreed: boolean) => void;
}): JSX.Element {
  const { keyring, keyringProblem, keyFolder } = props.reply;
  if (keyring) {
    return (
      <p className="da-dim" data-testid="da-connect-place">
        {`The key is kept in this computer's keyring (${keyring}), and sent to the provider only.`}
      </p>
    );
  }
  return (
    <div data-testid="da-connect-place">
      <p className="da-dim">{keyringProblem}</p>
      <label className="da-connect-consent">
        <input
          type="checkbox"
          data-testid="da-connect-consent"
          checked={props.isAgreed}
          onChange={event => props.onAgreed(event.target.checked)}
        />
        <span>
          {'Keep the key in a file that only my user can read, in '}
          <code>{keyFolder}</code>
        </span>
      </label>
    </div>
  );
}

/** The fields of a request that say where a key is to be kept. */
export function placeOf(
  { keyring }: ConnectionsReply,
  isAgreed: boolean
): { storeIn: 'keyring' | 'file'; consent: boolean } {
  return keyring
    ? { storeIn: 'keyring', consent: false }
    : { storeIn: 'file', consent: isAgreed };
}
