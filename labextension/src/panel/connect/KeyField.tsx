import React, { RefObject, useId } from 'react';

import { ConnectionsReply, ConnectRequest } from '../../api/types';

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

/** Where secrets are kept; empty: not chosen yet. */
export type Place = NonNullable<ConnectRequest['storeIn']> | '';

/** The place before the user chooses one: the keyring, where there is one. */
export function firstPlace({ keyring }: ConnectionsReply): Place {
  return keyring ? 'keyring' : '';
}

/** Where the key will be kept. */
export function KeyPlace(props: {
  reply: ConnectionsReply;
  place: Place;
  onPlace: (place: Place) => void;
}): JSX.Element {
  const { keyring, keyringProblem, keyFolder } = props.reply;
  const id = useId();
  const hint = useId();
  return (
    <>
      <label htmlFor={id}>Keep the key</label>
      <select
        id={id}
        className="da-field"
        data-testid="da-connect-place"
        aria-describedby={hint}
        value={props.place}
        onChange={event => props.onPlace(event.target.value as Place)}
      >
        {keyring ? (
          <option value="keyring">{`In the keyring (${keyring})`}</option>
        ) : (
          <option value="" disabled>
            Choose a place
          </option>
        )}
        <option value="file">In a file that only my user can read</option>
        <option value="memory">Until the server stops</option>
      </select>
      <p className="da-dim" id={hint} data-testid="da-connect-place-hint">
        {props.place === '' && keyringProblem}
        {props.place === 'keyring' && 'The key is sent to the provider only.'}
        {props.place === 'file' && (
          <>
            {'The file is in '}
            <code>{keyFolder}</code>
          </>
        )}
        {props.place === 'memory' &&
          'Nothing is written. After a restart of the server, enter the key again.'}
      </p>
    </>
  );
}

/** The fields of a request that say where a key is to be kept. */
export function placeOf(
  place: Place
): Pick<ConnectRequest, 'storeIn' | 'consent'> {
  return place ? { storeIn: place, consent: place === 'file' } : {};
}

/** Whether a secret was typed in a form. */
export function hasSecret(form: HTMLElement | null): boolean {
  const fields = form?.querySelectorAll<HTMLInputElement>(
    'input[type="password"]'
  );
  return [...(fields ?? [])].some(({ value }) => value.trim() !== '');
}

/** Empty the fields for secrets of a form. */
export function forgetSecrets(form: HTMLElement | null): void {
  form
    ?.querySelectorAll<HTMLInputElement>('input[type="password"]')
    .forEach(field => {
      field.value = '';
    });
}
