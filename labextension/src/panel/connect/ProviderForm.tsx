import React, { useId, useRef, useState } from 'react';

import { ConnectionsReply } from '../../api/types';
import { usePanel } from '../context';
import { KeyField, KeyPlace, placeOf } from './KeyField';
import { keyLabel } from './labels';
import { Result, IResult } from './Result';

/** A provider, one of its models, and the key. */
export function ProviderForm(props: { reply: ConnectionsReply }): JSX.Element {
  const { reply } = props;
  const { connect } = usePanel().model.toolsPanel;
  const [providerId, setProvider] = useState(reply.providers[0].id);
  const provider = reply.providers.find(({ id }) => id === providerId)!;
  const [model, setModel] = useState<string>();
  const [isAgreed, setAgreed] = useState(false);
  const [hasKey, setHasKey] = useState(false);
  const [busy, setBusy] = useState<'test' | 'connect' | null>(null);
  const [result, setResult] = useState<IResult | null>(null);
  const key = useRef<HTMLInputElement>(null);
  const ids = { heading: useId(), provider: useId(), model: useId() };
  const chosen = model ?? provider.models[0]?.id;

  const act = async (what: 'test' | 'connect') => {
    setBusy(what);
    setResult(null);
    const target = {
      provider: provider.id,
      model: chosen,
      key: key.current?.value || undefined
    };
    const tested = await connect.test(target);
    let shown: IResult = tested;
    if (what === 'connect' && tested.ok) {
      const place = target.key ? placeOf(reply, isAgreed) : {};
      const problem = await connect.connect({ ...target, ...place });
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
    if (key.current) {
      key.current.value = '';
    }
    setHasKey(false);
    setAgreed(false);
  };

  const needsConsent = hasKey && !reply.keyring && !isAgreed;
  const canAct = busy === null && (hasKey || !!provider.keySource);
  return (
    <form
      aria-labelledby={ids.heading}
      data-testid="da-connect-provider-form"
      onSubmit={event => {
        event.preventDefault();
        if (canAct && !needsConsent) {
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
      <label htmlFor={ids.model}>Model</label>
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
      <KeyField
        field={key}
        label={
          provider.keySource
            ? `New key (now: ${keyLabel(provider.keySource, provider.variable)})`
            : 'Key'
        }
        testId="da-connect-key"
        onInput={() => {
          setHasKey(!!key.current?.value.trim());
          setResult(null);
        }}
      />
      <KeyPlace reply={reply} isAgreed={isAgreed} onAgreed={setAgreed} />
      <div className="da-buttons">
        <button
          type="submit"
          className="da-button da-mod-primary"
          data-testid="da-connect-use"
          disabled={!canAct || needsConsent}
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
