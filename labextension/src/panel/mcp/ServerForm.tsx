import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import React, { useEffect, useId, useRef, useState } from 'react';

import { McpServerDefinition, McpServerInfo } from '../../api/types';
import { usePanel } from '../context';
import { joinCommand, splitCommand } from './commandLine';
import { Pairs, readPairs } from './Pairs';

/** Where the browser comes back to after signing in. */
const SIGNED_IN_URL = URLExt.join(
  PageConfig.getBaseUrl(),
  'datalayer-agent/mcp-sign-in'
);

/** A server that is added or edited: its name, and its command or URL. */
export function ServerForm(props: {
  server?: McpServerInfo;
  /** Those that are taken. */
  names?: readonly string[];
  close: () => void;
}): JSX.Element {
  const { server, names = [], close } = props;
  const { mcp } = usePanel().model.toolsPanel;
  const [name, setName] = useState(server?.name ?? '');
  const [clientId, setClientId] = useState(server?.clientId ?? '');
  const [isUrl, setUrl] = useState(!!server?.url);
  const [place, setPlace] = useState(
    server?.url ??
      (server
        ? joinCommand([server.command ?? '', ...(server.args ?? [])])
        : '')
  );
  const [result, setResult] = useState<{ ok: boolean; message: string } | null>(
    null
  );
  const [busy, setBusy] = useState<'test' | 'save' | null>(null);
  const pairs = useRef<HTMLDivElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const buttons = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    if (result) {
      buttons.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [result]);
  const isTaken = !server && names.includes(name.trim());

  const definition = (): McpServerDefinition => {
    const values = readPairs(pairs.current);
    if (isUrl) {
      return {
        url: place.trim(),
        headers: values,
        ...(clientId.trim() && { clientId: clientId.trim() })
      };
    }
    const [command, ...args] = splitCommand(place);
    return { command, args, env: values, cwd: server?.cwd };
  };
  const run = async (what: 'test' | 'save') => {
    setBusy(what);
    setResult(null);
    if (what === 'test') {
      setResult(
        await mcp.test({ name: name.trim() || 'test', ...definition() })
      );
    } else {
      const problem = await mcp.save(name.trim(), definition());
      if (problem === null) {
        form.current?.reset();
        close();
        return;
      }
      setResult({ ok: false, message: problem });
    }
    setBusy(null);
  };
  const canTest = !busy && !!place.trim();
  return (
    <form
      ref={form}
      className="da-mcp-form"
      data-testid="da-mcp-form"
      onSubmit={event => {
        event.preventDefault();
        void run('save');
      }}
    >
      {!server && (
        <div className="da-form-field">
          <label htmlFor={`${id}-name`}>Name</label>
          <input
            id={`${id}-name`}
            className="da-field"
            type="text"
            autoFocus
            autoComplete="off"
            spellCheck={false}
            maxLength={64}
            data-testid="da-mcp-name"
            aria-invalid={isTaken}
            value={name}
            onChange={event => setName(event.target.value)}
          />
          {isTaken && (
            <div className="da-problem">There is a server of this name.</div>
          )}
        </div>
      )}
      <fieldset className="da-mcp-kind">
        <legend>It is</legend>
        {[false, true].map(each => (
          <label key={String(each)}>
            <input
              type="radio"
              name={id}
              checked={isUrl === each}
              data-testid={each ? 'da-mcp-is-url' : 'da-mcp-is-command'}
              onChange={() => {
                setUrl(each);
                setPlace('');
                setResult(null);
              }}
            />
            {each ? 'a server at a URL' : 'a program to start'}
          </label>
        ))}
      </fieldset>
      <div className="da-form-field">
        <label htmlFor={`${id}-place`}>{isUrl ? 'URL' : 'Command'}</label>
        <input
          id={`${id}-place`}
          className="da-field"
          type="text"
          inputMode={isUrl ? 'url' : 'text'}
          autoComplete="off"
          spellCheck={false}
          placeholder={isUrl ? 'https://host/mcp' : 'uvx mcp-server-time'}
          data-testid="da-mcp-place"
          value={place}
          onChange={event => {
            setPlace(event.target.value);
            setResult(null);
          }}
        />
      </div>
      <Pairs
        key={String(isUrl)}
        frame={pairs}
        label={isUrl ? 'Headers' : 'Environment'}
        hint="Values are saved in mcp.json on the server, and not shown again."
        known={
          server && isUrl === !!server.url
            ? ((isUrl ? server.headers : server.env) ?? [])
            : []
        }
      />
      {isUrl && (
        <div className="da-form-field">
          <label htmlFor={`${id}-client`}>
            Client ID<span className="da-dim"> (optional)</span>
          </label>
          <input
            id={`${id}-client`}
            className="da-field"
            type="text"
            autoComplete="off"
            spellCheck={false}
            maxLength={500}
            aria-describedby={`${id}-client-help`}
            data-testid="da-mcp-client-id"
            value={clientId}
            onChange={event => setClientId(event.target.value)}
          />
          <div id={`${id}-client-help`} className="da-help">
            {
              'For a sign-in at a server where programs are registered by hand, with the redirect address '
            }
            <code>{SIGNED_IN_URL}</code>
          </div>
        </div>
      )}
      <div role="status">
        {busy && <p className="da-dim">Starting the server</p>}
        {result && (
          <div
            className={`da-notice ${result.ok ? '' : 'da-mod-error'}`}
            data-testid="da-mcp-result"
            data-ok={result.ok}
          >
            {result.message}
          </div>
        )}
      </div>
      <div className="da-buttons" ref={buttons}>
        <button
          type="submit"
          className="da-button da-mod-primary"
          data-testid="da-mcp-save"
          disabled={!canTest || !name.trim() || isTaken}
        >
          {server ? 'Save' : 'Add'}
        </button>
        <button
          type="button"
          className="da-button"
          data-testid="da-mcp-test"
          disabled={!canTest}
          onClick={() => void run('test')}
        >
          Test
        </button>
        <button type="button" className="da-button" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}
