import React, { useId, useRef, useState } from 'react';

import { ConnectionsReply } from '../../api/types';
import { usePanel } from '../context';
import { FormFields, formValues } from './FormFields';
import {
  firstPlace,
  forgetSecrets,
  hasSecret,
  KeyField,
  KeyPlace,
  Place,
  placeOf
} from './KeyField';
import { keyLabel } from './labels';
import { Result, IResult } from './Result';

/** A provider, one of its models, and the key. */
export function ProviderForm(props: { reply: ConnectionsReply }): JSX.Element {
  const { reply } = props;
  const { connect } = usePanel().model.toolsPanel;
  const [providerId, setProvider] = useState(reply.providers[0].id);
  const provider = reply.providers.find(({ id }) => id === providerId)!;
  const [model, setModel] = useState<string>();
  const [place, setPlace] = useState<Place>(firstPlace(reply));
  const [hasKey, setHasKey] = useState(false);
  const [busy, setBusy] = useState<'test' | 'connect' | null>(null);
  const [result, setResult] = useState<IResult | null>(null);
  const key = useRef<HTMLInputElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const ids = { heading: useId(), provider: useId(), model: useId() };
  const hasForm = provider.signIns.length > 0;
  const chosen = model ?? (hasForm ? '' : provider.models[0]?.id);

  const act = async (what: 'test' | 'connect') => {
    setBusy(what);
    setResult(null);
    const target = {
      provider: provider.id,
      model: chosen,
      ...(hasForm
        ? formValues(form.current!)
        : { key: key.current?.value || undefined })
    };
    const tested = await connect.test(target);
    let shown: IResult = tested;
    if (what === 'connect' && tested.ok) {
      const kept = hasSecret(form.current) ? placeOf(place) : {};
      const problem = await connect.connect({ ...target, ...kept });
      if (problem === null) {
        forgetTyped();
        setBusy(null);
        return;
      }
      shown = { ok: false, message: problem };
    }
    setResult(shown);
    setBusy(null);
  };
  const forgetTyped = () => {
    forgetSecrets(form.current);
    setHasKey(false);
  };
  const typed = () => {
    setHasKey(hasSecret(form.current));
    setResult(null);
  };

  const needsPlace = hasKey && !place;
  const canAct =
    busy === null &&
    (hasForm ? !!chosen?.trim() : hasKey || !!provider.keySource);
  return (
    <form
      ref={form}
      onInput={typed}
      aria-labelledby={ids.heading}
      data-testid="da-connect-provider-form"
      onSubmit={event => {
        event.preventDefault();
        if (canAct && !needsPlace) {
          void act('connect');
        }
      }}
    >
      <h4 id={ids.heading}>With a provider's key</h4>
      <label htmlFor={ids.provider}>Provider</label>
      <select
        id={ids.provider}
        className="da-field"
        data-testid="da-connect-provider"
        value={providerId}
        onChange={event => {
          // A key that was typed is for the provider that was chosen then.
          forgetTyped();
          setProvider(event.target.value);
          setModel(undefined);
          setResult(null);
        }}
      >
        {reply.providers.map(({ id, label, keySource }) => (
          <option key={id} value={id}>
            {keySource ? `${label} (has a key)` : label}
          </option>
        ))}
      </select>
      <label htmlFor={ids.model}>{provider.modelLabel}</label>
      {hasForm ? (
        <input
          id={ids.model}
          className="da-field"
          type="text"
          autoComplete="off"
          spellCheck={false}
          placeholder={provider.modelExample}
          data-testid="da-connect-provider-model"
          value={chosen}
          onChange={event => setModel(event.target.value)}
        />
      ) : (
        <select
          id={ids.model}
          className="da-field"
          data-testid="da-connect-provider-model"
          value={chosen}
          onChange={event => setModel(event.target.value)}
        >
          {provider.models.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      )}
      {hasForm ? (
        <FormFields
          key={provider.id}
          provider={provider}
          onSignIn={forgetTyped}
        />
      ) : (
        <KeyField
          field={key}
          label={
            provider.keySource
              ? `New key (now: ${keyLabel(provider.keySource, provider.variable)})`
              : 'Key'
          }
          testId="da-connect-key"
        />
      )}
      {(hasKey || !hasForm) && (
        <KeyPlace reply={reply} place={place} onPlace={setPlace} />
      )}
      <div className="da-buttons">
        <button
          type="submit"
          className="da-button da-mod-primary"
          data-testid="da-connect-use"
          disabled={!canAct || needsPlace}
        >
          {busy === 'connect' ? 'Connecting' : 'Use this model'}
        </button>
        <button
          type="button"
          className="da-button"
          data-testid="da-connect-test"
          disabled={!canAct}
          onClick={() => void act('test')}
        >
          {busy === 'test' ? 'Testing' : 'Test'}
        </button>
      </div>
      <Result result={result} busy={busy !== null} />
    </form>
  );
}
