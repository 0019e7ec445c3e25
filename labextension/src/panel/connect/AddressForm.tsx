import React, { useEffect, useId, useRef, useState } from 'react';

import { ConnectionsReply, FoundServer } from '../../api/types';
import { usePanel } from '../context';
import { KeyField, KeyPlace, placeOf } from './KeyField';
import { Server } from './LocalServers';
import { IResult, Result } from './Result';

/** An OpenAI-compatible server by its address, with a key if it needs one. */
export function AddressForm(props: { reply: ConnectionsReply }): JSX.Element {
  const { reply } = props;
  const { connect } = usePanel().model.toolsPanel;
  const [address, setAddress] = useState('');
  const [isAgreed, setAgreed] = useState(false);
  const [hasKey, setHasKey] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<IResult | null>(null);
  const [server, setServer] = useState<FoundServer | null>(null);
  const key = useRef<HTMLInputElement>(null);
  const found = useRef<HTMLDivElement>(null);
  const id = useId();

  useEffect(() => {
    found.current?.scrollIntoView?.({ block: 'nearest' });
  }, [server]);

  const changed = () => {
    setResult(null);
    setServer(null);
  };
  const find = async () => {
    setBusy(true);
    changed();
    const tested = await connect.test({
      address,
      key: key.current?.value || undefined
    });
    setResult(tested);
    setServer(tested.ok ? (tested.server ?? null) : null);
    setBusy(false);
  };
  const use = async (model: string) => {
    const typed = key.current?.value || undefined;
    const tested = await connect.test({ address, key: typed, model });
    if (!tested.ok) {
      return tested.message;
    }
    const problem = await connect.connect({
      address,
      key: typed,
      model,
      ...(typed ? placeOf(reply, isAgreed) : {})
    });
    if (problem === null) {
      if (key.current) {
        key.current.value = '';
      }
      setHasKey(false);
      setAgreed(false);
      setAddress('');
      changed();
    }
    return problem;
  };
  return (
    <form
      data-testid="da-connect-address-form"
      onSubmit={event => {
        event.preventDefault();
        void find();
      }}
    >
      <label htmlFor={id}>Address</label>
      <input
        id={id}
        className="da-field"
        type="text"
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        placeholder="https://host:8000/v1"
        data-testid="da-connect-address"
        value={address}
        onChange={event => {
          setAddress(event.target.value);
          changed();
        }}
      />
      <KeyField
        field={key}
        label="Key, if it needs one"
        testId="da-connect-address-key"
        onInput={() => {
          setHasKey(!!key.current?.value.trim());
          changed();
        }}
      />
      {hasKey && (
        <KeyPlace reply={reply} isAgreed={isAgreed} onAgreed={setAgreed} />
      )}
      <div className="da-buttons">
        <button
          type="submit"
          className="da-button"
          data-testid="da-connect-find"
          disabled={isBusy || !address.trim()}
        >
          {isBusy ? 'Looking' : 'Find models'}
        </button>
      </div>
      <Result result={result} busy={false} />
      {server && (
        <div ref={found}>
          <Server
            server={server}
            choose={async model =>
              hasKey && !reply.keyring && !isAgreed
                ? 'Choose where the key is kept first.'
                : use(model)
            }
          />
        </div>
      )}
    </form>
  );
}
