import React, { useId, useState } from 'react';

import { ConnectableProvider, ConnectionTestRequest } from '../../api/types';

type Field = ConnectableProvider['fields'][number];

const VALUE = 'value:';

/** What a provider's form asks for besides the model: an endpoint, a region, a way to sign in. */
export function FormFields(props: {
  provider: ConnectableProvider;
  /** Another way to sign in was chosen. */
  onSignIn: () => void;
}): JSX.Element {
  const { provider } = props;
  const { signIns } = provider;
  const [chosen, setChosen] = useState(provider.signIn ?? signIns[0].id);
  const signIn = signIns.find(each => each.id === chosen);
  const id = useId();
  return (
    <>
      {provider.fields.map(field => (
        <Input key={field.name} field={field} isSaved={false} />
      ))}
      <label htmlFor={id}>Sign in with</label>
      <select
        id={id}
        className="da-field"
        name="signIn"
        data-testid="da-connect-sign-in"
        value={chosen}
        onChange={event => {
          setChosen(event.target.value);
          props.onSignIn();
        }}
      >
        {signIns.map(each => (
          <option key={each.id} value={each.id}>
            {each.label}
          </option>
        ))}
      </select>
      {signIn?.fields.map(field => (
        <Input
          key={`${signIn.id} ${field.name}`}
          field={field}
          isSaved={!!provider.keySource && provider.signIn === signIn.id}
        />
      ))}
    </>
  );
}

/** What was typed in such a form. */
export function formValues(
  form: HTMLFormElement
): Pick<ConnectionTestRequest, 'signIn' | 'values'> {
  const typed = new FormData(form);
  const values: Record<string, string> = {};
  typed.forEach((value, name) => {
    if (name.startsWith(VALUE) && typeof value === 'string' && value.trim()) {
      values[name.slice(VALUE.length)] = value;
    }
  });
  return { signIn: String(typed.get('signIn')), values };
}

function Input(props: { field: Field; isSaved: boolean }): JSX.Element {
  const { field, isSaved } = props;
  const id = useId();
  const isOptional = !field.isRequired;
  return (
    <>
      <label htmlFor={id}>
        {isOptional ? `${field.label} (optional)` : field.label}
      </label>
      <input
        id={id}
        className="da-field"
        name={`${VALUE}${field.name}`}
        type={field.isSecret ? 'password' : 'text'}
        autoComplete="off"
        spellCheck={false}
        defaultValue={field.value}
        placeholder={isSaved && field.isSecret ? 'Saved' : field.example}
        data-testid={`da-connect-field-${field.name}`}
      />
    </>
  );
}
