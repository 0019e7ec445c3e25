import React, { useEffect, useId, useRef, useState } from 'react';

import { ConnectionsReply, FoundServer } from '../../api/types';
import { usePanel } from '../context';
import { ConnectionOptions, optionsOf } from './ConnectionOptions';
import {
  firstPlace,
  forgetSecrets,
  hasSecret,
  KeyField,
  KeyPlace,
  Place,
  placeOf
} from './KeyField';
import { Server } from './LocalServers';
import { IResult, Result } from './Result';

/** An OpenAI-compatible server by its address, with a key if it needs one. */
export function AddressForm(props: { reply: ConnectionsReply }): JSX.Element {
  const { reply } = props;
  const { connect } = usePanel().model.toolsPanel;
  const [address, setAddress] = useState('');
  const [place, setPlace] = useState<Place>(firstPlace(reply));
  const [hasKey, setHasKey] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<IResult | null>(null);
  const [server, setServer] = useState<FoundServer | null>(null);
  const key = useRef<HTMLInputElement>(null);
  const found = useRef<HTMLDivElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const saved = reply.connections.find(
    each => each.address === address.trim().replace(/(?<!\/)\/+$/, '')
  );
  const id = useId();

  useEffect(() => {
    found.current?.scrollIntoView?.({ block: 'nearest' });
  }, [server]);

  const changed = () => {
    setResult(null);
    setServer(null);
  };
  const entered = () => ({
    address,
    key: key.current?.value || undefined,
    ...optionsOf(form.current!, saved)
  });
  const find = async () => {
    setBusy(true);
    changed();
    const tested = await connect.test(entered());
    setResult(tested);
    setServer(tested.ok ? (tested.server ?? null) : null);
    setBusy(false);
  };
  const use = async (model: string) => {
    const target = { ...entered(), model };
    const tested = await connect.test(target);
    if (!tested.ok) {
      return tested.message;
    }
    const problem = await connect.connect({
      ...target,
      ...(hasSecret(form.current) ? placeOf(place) : {})
    });
    if (problem === null) {
      forgetSecrets(form.current);
      setHasKey(false);
      setAddress('');
      changed();
    }
    return problem;
  };
  return (
    <form
      ref={form}
      data-testid="da-connect-address-form"
      onInput={() => {
        setHasKey(hasSecret(form.current));
        changed();
      }}
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
        onChange={event => setAddress(event.target.value)}
      />
      <KeyField
        field={key}
        label="Key, if it needs one"
        testId="da-connect-address-key"
      />
      <ConnectionOptions key={saved?.id} saved={saved} onChange={changed} />
      {hasKey && <KeyPlace reply={reply} place={place} onPlace={setPlace} />}
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
              hasKey && !place
                ? 'First choose where to keep the key.'
                : use(model)
            }
          />
        </div>
      )}
    </form>
  );
}
