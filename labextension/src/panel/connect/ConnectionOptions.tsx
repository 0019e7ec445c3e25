import React, { useId, useRef, useState } from 'react';

import { ConnectionInfo, ConnectionTestRequest } from '../../api/types';

const HEADER = 'header:';

/** Extra headers and a client certificate, for gateways that want them. */
export function ConnectionOptions(props: {
  /** The connection to the same address, whose headers are kept unless they are changed. */
  saved?: ConnectionInfo;
  onChange: () => void;
}): JSX.Element {
  const { saved } = props;
  const counter = useRef(0);
  const row = (name = '') => ({ id: counter.current++, name });
  const [rows, setRows] = useState(() => (saved?.headers ?? []).map(row));
  const [focused, setFocused] = useState<number | null>(null);
  const change = (changed: typeof rows) => {
    setRows(changed);
    props.onChange();
  };
  const ids = { certificate: useId(), key: useId() };
  return (
    <details className="da-more" open={!!saved?.headers.length || undefined}>
      <summary>Headers and client certificate</summary>
      <div className="da-connect-options">
        {rows.map(({ id, name }, index) => (
          <div key={id} className="da-connect-header">
            <input
              className="da-field"
              name={`${HEADER}${id}`}
              type="text"
              autoComplete="off"
              spellCheck={false}
              defaultValue={name}
              placeholder="X-Api-Key"
              aria-label={`Name of header ${index + 1}`}
              data-testid="da-connect-header-name"
              ref={element => {
                if (element && focused === id) {
                  setFocused(null);
                  element.focus();
                }
              }}
            />
            <input
              className="da-field"
              name={`${HEADER}${id}`}
              type="password"
              autoComplete="off"
              spellCheck={false}
              placeholder={name ? 'Saved' : 'Value'}
              aria-label={`Value of header ${index + 1}`}
              data-testid="da-connect-header-value"
            />
            <button
              type="button"
              className="da-link"
              aria-label={`Remove header ${index + 1}`}
              onClick={() => change(rows.filter(each => each.id !== id))}
            >
              Remove
            </button>
          </div>
        ))}
        <button
          type="button"
          className="da-link"
          data-testid="da-connect-header-add"
          onClick={() => {
            const added = row();
            setFocused(added.id);
            change([...rows, added]);
          }}
        >
          Add a header
        </button>
        <label htmlFor={ids.certificate}>Client certificate (PEM file)</label>
        <input
          id={ids.certificate}
          className="da-field"
          name="certificate"
          type="text"
          autoComplete="off"
          spellCheck={false}
          defaultValue={saved?.certificate}
          placeholder="/path/to/client.pem"
          data-testid="da-connect-certificate"
        />
        <label htmlFor={ids.key}>Its key, if in another file</label>
        <input
          id={ids.key}
          className="da-field"
          name="certificateKey"
          type="text"
          autoComplete="off"
          spellCheck={false}
          defaultValue={saved?.certificateKey}
          placeholder="/path/to/client.key"
          data-testid="da-connect-certificate-key"
        />
        <p className="da-dim">
          Paths are on the computer of the Jupyter server. Values of headers are
          kept where the key is.
        </p>
      </div>
    </details>
  );
}

/** What was typed there; what was not changed is left out. */
export function optionsOf(
  form: HTMLFormElement,
  saved: ConnectionInfo | undefined
): Pick<ConnectionTestRequest, 'headers' | 'certificate' | 'certificateKey'> {
  const typed = new FormData(form);
  const headers: Record<string, string | null> = {};
  new Set([...typed.keys()].filter(name => name.startsWith(HEADER))).forEach(
    row => {
      const [name, value] = typed.getAll(row).map(String);
      if (name.trim() || value) {
        const isSaved = saved?.headers.includes(name.trim());
        headers[name.trim()] = !value && isSaved ? null : value;
      }
    }
  );
  const certificate = String(typed.get('certificate') ?? '').trim();
  const certificateKey = String(typed.get('certificateKey') ?? '').trim();
  return {
    ...(Object.keys(headers).length || saved?.headers.length
      ? { headers }
      : {}),
    ...(certificate || saved?.certificate
      ? { certificate, certificateKey }
      : {})
  };
}
